"""The parts of which names are made.

No word of a list begins or ends another of the list, whatever the case, so that no name made of them is in another; the
lists share no word.
"""

from __future__ import annotations

# fmt: off
# ruff: noqa: SIM905 (words are easier to read without quotation marks)
GIVEN = tuple("""
Adela Agnes Albert Alma Ambrose Amelia Anders Anton Arthur Astrid August Beatrix Benno Bertha Bruno Camilla Casimir
Cecilia Clemens Conrad Cora Cyril Dagmar Damian Dorothea Edgar Edith Edmund Elias Elvira Emil Enid Ernst Esther Eugene
Fabian Felix Fergus Fiona Flora Frida Gerda Gideon Gilbert Greta Gustav Harald Harriet Hector Hedwig Helmut Henrik
Horace Hubert Imogen Ingrid Isidor Ivor Jasper Jerome Johanna Judith Julius Karin Kaspar Konstantin Lambert Leonora
Linnea Lorenz Lucian Ludwig Magda Marcel Marit Marta Mathilda Maurice Miriam Morris Nadia Nestor Nicholas Norbert
Octavia Olaf Oscar Otto Pauline Pavel Petra Philip Quentin Rainer Ramona Rebecca Rosalind Rufus Ruth Sabine Samuel
Sigrid Silvia Solveig Stella Sven Tabitha Thaddeus Theresa Thora Tobias Ulrich Ursula Valentin Vera Viktor Vincent
Walter Wanda Wendel Wilma Winifred Yvonne Zelda
""".split())

FAMILY = tuple("""
Abbott Ackerman Aldridge Andersen Ashdown Baldwin Barlow Becker Bergstrom Blackwood Bowman Brandt Burgess Calloway
Carlisle Castell Chambers Claydon Copeland Crawford Dahlberg Dalton Delaney Dietrich Donnelly Draper Dunbar Eastwood
Eckhart Ellison Engstrom Fairbanks Falconer Farrell Fischer Fletcher Forsberg Gallagher Garland Gibson Goodwin
Grantham Gruber Hagen Halloran Hammond Harding Hartmann Hawkins Hendricks Hoffmann Holloway Huxley Ibsen Jamison
Jensen Kaufmann Keller Kendall Kirkland Klein Kowalski Krueger Larkin Lindqvist Lockhart Lombard Ludlow Madsen Mallory
Marchand Mercer Mitchell Montague Mueller Nakamura Neumann Newcomb Nilsson Norwood Nyberg Olsen Osborne Palmer Pearson
Pembroke Perkins Pickering Porter Prescott Quigley Radcliffe Ramsey Reinhardt Richter Rosenthal Rutherford Sanders
Schaefer Sheridan Sinclair Soderberg Stafford Sullivan Sutton Takeda Talbot Trevor Tucker Ullman Vaughan Vogel Wagner
Wakefield Wallace Warwick Weber Whitaker Winslow Yates Zimmer
""".split())

MODIFIER = tuple("""
Amber Ancient Arctic Autumn Azure Bashful Blithe Bold Boreal Brave Bright Brisk Calm Candid Careful Cheerful Chilly
Civil Clear Clever Coastal Cosmic Crimson Crisp Curious Daring Dashing Dusky Eager Early Earnest Elder Faithful Famous
Fearless Fervent Festive Fiery Fond Frosty Gallant Gentle Glad Gleaming Graceful Grand Grateful Hardy Hasty Hearty
Honest Humble Icy Ideal Indigo Jolly Joyful Keen Kindly Lively Lofty Loyal Lucid Lunar Magenta Mellow Merry Mild Misty
Modest Mossy Neat Nimble Noble Opal Peaceful Placid Plucky Polar Polite Proud Prudent Purple Quaint Quick Quiet Rapid
Rosy Royal Rugged Rustic Scarlet Serene Shady Sharp Silent Silver Sincere Sleepy Smooth Snowy Solar Solemn Sturdy
Sunny Swift Tawny Tender Thrifty Tidy Tranquil Trusty Twilight Upbeat Valiant Velvet Violet Vivid Warm Wary Whimsical
Winter Wise Witty Zealous
""".split())

BIRD = tuple("""
Albatross Avocet Bittern Blackbird Bluethroat Bunting Buzzard Canary Capercaillie Cassowary Chaffinch Chickadee
Cockatoo Condor Coot Cormorant Crane Crossbill Cuckoo Curlew Dabchick Dipper Dotterel Dunlin Dunnock Eagle Egret Eider
Falcon Fieldfare Firecrest Flamingo Flycatcher Fulmar Gannet Garganey Godwit Goosander Goshawk Grebe Greenfinch Grouse
Guillemot Harrier Hawfinch Heron Hobby Hoopoe Hornbill Hummingbird Ibis Jackdaw Jay Kestrel Kingfisher Kite Kittiwake
Kiwi Lapwing Linnet Lorikeet Macaw Magpie Mallard Martin Merganser Merlin Moorhen Nightingale Nightjar Nuthatch Oriole
Osprey Ouzel Oystercatcher Parakeet Peafowl Pelican Penguin Peregrine Petrel Phalarope Pheasant Pigeon Pintail Pipit
Pochard Ptarmigan Puffin Quail Raven Razorbill Redpoll Redstart Robin Sandpiper Serin Shearwater Shelduck Shoveler
Siskin Skua Skylark Smew Snipe Sparrow Spoonbill Starling Stilt Stonechat Stork Swallow Swan Teal Thrush Toucan
Treecreeper Turnstone Wagtail Warbler Waxwing Wheatear Whimbrel Whinchat Wigeon Woodcock Wren Wryneck
""".split())

PLANT = tuple("""
Acacia Acanthus Alder Almond Anemone Apple Apricot Arnica Aspen Aster Azalea Bamboo Banyan Basil Beech Begonia
Bergamot Birch Bluebell Borage Bracken Bramble Broom Bryony Buckthorn Burdock Camellia Campion Caraway Catalpa Cedar
Celandine Chestnut Chicory Citron Clematis Columbine Comfrey Coriander Cornel Cowslip Crocus Cypress Daffodil Dahlia
Daisy Dogwood Ebony Elm Fennel Fern Feverfew Ficus Foxtail Freesia Fuchsia Gardenia Gentian Geranium Ginger Gorse
Guava Hawthorn Hazel Heather Hemlock Hibiscus Holly Hornbeam Hyacinth Hyssop Iris Ivy Jasmine Juniper Larch Laurel
Lavender Lemon Lilac Lobelia Lotus Lupin Magnolia Mallow Maple Medlar Mimosa Mulberry Myrtle Nettle Oak Oleander Olive
Orchid Osier Papyrus Peony Peppermint Pine Plum Poplar Poppy Primrose Quince Rosemary Rowan Saffron Sage Samphire
Sequoia Sorrel Spruce Sycamore Tamarind Tansy Thistle Thyme Tulip Verbena Walnut Willow Yarrow Yew Zinnia
""".split())

MINERAL = tuple("""
Agate Alabaster Albite Alunite Amazonite Amethyst Anatase Anhydrite Antimony Apatite Aragonite Barite Basalt Bauxite
Beryl Biotite Borax Bornite Brucite Calcite Carnelian Celestine Cerussite Chalcedony Chert Chlorite Chromite
Chrysolite Cinnabar Citrine Cobalt Copper Coral Cordierite Corundum Cryolite Cuprite Datolite Diamond Diopside
Dolomite Emerald Enstatite Epidote Feldspar Flint Fluorite Gabbro Galena Garnet Gneiss Graphite Greenstone Gypsum
Halite Hematite Howlite Hornblende Ilmenite Indium Iolite Iridium Jade Jet Kaolin Kunzite Kyanite Lapis Lazurite
Leucite Limestone Limonite Magnesite Malachite Marble Marcasite Mica Microcline Millerite Monazite Moonstone Natrolite
Nephrite Nickel Obsidian Olivine Onyx Orpiment Osmium Palladium Pearl Peridot Platinum Porphyry Prehnite Pumice Pyrite
Pyrope Quartz Realgar Rhodonite Ruby Rutile Sandstone Sapphire Scheelite Selenite Serpentine Siderite Slate Soapstone
Sodalite Spessartine Sphene Spinel Stibnite Sulfur Sunstone Talc Tanzanite Titanite Topaz Tourmaline Travertine
Turquoise Ulexite Vanadinite Wolframite Wulfenite Zeolite Zircon
""".split())

# A place is one of the first and one of the second: Ashford, Thornby.
PLACE_STEM = tuple("""
Ash Barn Birk Black Brom Carl Chel Col Cran Darn Dun Elms Fair Farn Gar Grim Hal Hart Hasel Holm Kings Lang Lin Mar
Mel Nor Oak Pem Rad Red Ros Sand Shel Stan Thorn Wal West Whit Wyn
""".split())
PLACE_ENDING = tuple("""
beck borough bourne bridge brook burn bury by church combe cott croft dale den don field firth ford gate grove ham
haven hurst ley marsh mere minster moor mouth pool ridge shaw stead stoke ton wick wold worth
""".split())
# fmt: on
