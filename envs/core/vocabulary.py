"""The words that the check of a rendering knows, of every family.

A row divides its phrases by "|". Words that a family goes by besides stand with its own check.
"""

from veilgym.envs.core.wording import word_set

CLAIMS = {
    "negation": "not|no|never|neither|nor|none|nobody|nothing|nowhere|without|cannot|except|excepting|unlike|"
    "it does not|instead|hardly|barely|scarcely|seldom|rarely|failed|fails|failing|refused|denied|lacks|lacking|untrue|"
    "it is false|false that|opposite|contrary|reverse|reversed|otherwise|falsely|lie|lies that|all lies|"
    "wrongly|wrong|incorrectly|"
    "incorrect|mistake|mistaken|mistakenly|misprint|error|fictitious|nope|non|isnt|wasnt|arent|far from|but|save|"
    "other than|aside from|apart from|besides|short of|refuses|rejected|barred|banned|avoids|avoided|vetoed|skipped|"
    "omitted|swapped|undone|vice versa|other way",
    "hedge": "perhaps|maybe|possibly|might|may|could|would|should|allegedly|supposedly|reportedly|rumoured|rumored|"
    "seems|seemed|apparently|claimed|believed|suspected|assumed|hoped|planned|intended|expected|presumably|"
    "if|unless|wishes|wished|wants|wanted|pretends|pretended|hypothetically|applied to|partly|partially",
    "rounding": "approximately|roughly|nearly|almost|circa|or so|mostly|most|majority|minority|percent|per cent|"
    "percentage|several|many|few|fewer|dozens|usually|often|sometimes|frequently|occasionally|generally|typically|~|"
    "\N{ALMOST EQUAL TO}|%|at least|at most|more than|less than|up to|close to|just over|just under|a couple|"
    "a majority|the bulk",
    "number word": "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    "sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|"
    "dozen|million|millions|billion|squared|cubed|half|twice|thrice|double|doubled|triple|quarter|third of|thirds",
    "law": "because|causes|caused|causing|therefore|hence|thus|thereby|due to|owing to|leads to|led to|results in|"
    "resulted in|makes it|made it|prevents|prevented|ensures|ensured|guarantees|guaranteed|always|must|only if|"
    "only when|whenever|requires|required|implies|proves|proved|shows that|triggers|triggered|as a result|so that|"
    "consequently",
    "probability": "probability|probabilities|probable|probably|chance|chances|likelihood|likely|unlikely|odds",
    "hidden": "rule|rules|flag|flags|hidden|latent|internal|mechanism|program|gold|ground truth|secretly|invisible",
    "answer": "answer is|correct|right answer|true answer|solution|the verdict|expected answer|"
    "hint|spoiler|affirmative|first option|second option|it does",
}
"""Classes of phrases that say something which a rendering may not say, in one place or everywhere."""

ORDINARY = word_set(
    """
    a action actions activities activity after again all also altogether an and another answer answers applied
    apply applying are as at attempt attempts attribute attributes bakery band base based baseline batch batches
    be been being booked booking both by can carried carry case cases chart check checked checks choose clerk
    combination combinations combined come comes completion condition conditions configuration consider
    consignment consignments consist consisted consists contain contained count counted counts cycle cycles data
    day days decide describe describes details determined device did difficulty do does done during each either
    end ended ending ends entries entry event events every evidence exactly examine examined execute executed
    executes executing expect experiment experiments factory farm find finding findings finds fix fixed fixing
    follow followed following follows for form found fresh from garden give given go goes going grey group groups
    had handle handled handling has have having he held her here his histories history hold holding hospital i in
    include included includes inspect inspected inspects instance instances into is it item items its judge keep
    keeper keeping kept kind kitchen laboratory last least ledger less level levels likely line lines list listed
    lists log machine made make makes mark marked means meanwhile measure measured more museum name named names
    new next note notebook noted notes now number numbers nurse observe observed observer observes of office on
    once one only onto operation operations operator or order ordered our out outcome outcomes over overall page
    parameter parameters part particular particulars patient patients people per perform performed performs person
    place plan planned please position possible predict prepared procedure procedures proceed proceeded process
    product products protocol put question read reading readings reads record recorded records reply report
    reported reports respectively result results round rounds routine row run running runs same sample samples say
    scenario schedule see seen send sent sequence series session sessions set sets setting settings settle setup
    she ship shipment shipments show showed shown shows sign similarly single situation so specifically specimen
    specimens staff stand stands start started starts state step steps still studio subject subjects such sum
    summarise summarises summary sums suppose system table tag take taken takes taking task tasks team tell test
    tested tests than that the theatre their them then there these theta they think this those through throughout
    time times to together told total totals treat treated treatment treatments trial trials tried tries try two
    type under undergo undergoes undergone underwent until up upon us use used uses using value values via visit
    visits ward was way we were what when where whether which while who whom whose will with within word work
    worker workshop would write written yellow yet you your
    """
)
"""Words that change nothing: of our own prose, and what else a model may write around names and numbers."""

REMARK = word_set(
    """
    a after all allowed an and answer answering answers as at base based be before between both by capital
    capitals careful carefully case cases choice choose close combine combined conclude consider data decide
    describe described describes determine difficulty either end entries entry event events every evidence exact
    exactly examine explain final finally finish following for form format from give given have histories history
    in information into judge just keep label labels letters likely line lines list log look more must name note
    notebook notes now number of on one only option options or order outcome outcomes output over own pick please
    possible predict probable question questions read reader reason reasoning record records reply report respond
    response result results return say select settle should simply single state statement step steps take tell the
    then think through time to trial trials two use with word words work write you your
    """
)
"""Words of a sentence about how to reply. None points at one of two options, none says that something is so."""

ASKING = word_set(
    """
    are can could did do does expect hold holds is it its run runs so such than there
    true was were what when whether which will would
    """
)
"""Words that such a sentence may have besides if it asks, or says what to decide."""
