"""More plots of story_generator.py: those in which the hero has a friend."""
from story_plots import plot


@plot
def thunderstorm(s):
    s.hero()
    s.friend()
    s.fact("song", "a song about the sea|a funny song|an old song|a song about a brave mouse|a song about the stars")
    return """{opening} One night, there was a (big|great|terrible) storm. The rain (fell hard|beat
    on the roof), and the thunder went boom, boom, boom! {hero} was so {afraid} that {he} (could not
    sleep|hid under the blanket|began to cry).

    {His} {parent} came and sat down beside {him}. "(Thunder is only loud|The storm cannot hurt you
    here)," {hep} said. "(When it is loud, we can be louder|Let us sing until it goes away)." So
    they sang {song}. They sang it (three times|again and again), and {hero} (forgot about the
    thunder|began to smile|fell asleep).

    (The next week|Some days later|The next summer), {friend_who} was staying with {hero} when
    another storm came. {friend} (shook|cried|was very quiet). ["(Do you want to go home?|Are you
    {afraid}?)" asked {hero}. "(A little|Yes)," said {friend}.] {hero} took {friend} by the {hand}.
    "I know what to do," {he} said, and {he} sang {song}. (Soon|After a while), {friend} sang too,
    and they did not hear the thunder at all.

    In the morning, the sun (came out|was shining) and there was a rainbow. ["(You were very
    brave|You sing very well)," said {friend}.] {lesson} (a song can chase away fear|we can give to
    others what was given to us|it is easier to be brave together)."""


@plot
def building(s):
    s.hero()
    s.friend()
    s.together("work fall", [
        ("a tree house", "The boards came loose"), ("a raft", "The ropes came loose"),
        ("a little house of sticks", "The sticks fell down"), ("a bridge over the stream", "The stones rolled away"),
        ("a castle of sand", "The walls fell down"), ("a boat", "Water came in from all sides"),
        ("a wagon", "The wheels came off")])
    s.facts["work_noun"] = s.facts["work"].split(" ", 1)[1]
    s.together("want1 want2", [
        ("big", "small"), ("red", "blue"), ("tall", "wide"), ("yellow", "green"), ("long", "short")])
    return """{intro} {day}, {hero} and {friend_who} (wanted|decided) to build {work}.
    {weather_line} [They (got wood and rope|looked for all they needed|started right after
    breakfast).] But soon they began to (fight|argue).

    "It must be {want1}," said {hero}. "No, it must be {want2}," said {friend}. "(Then I will build
    my own|I do not need you)!" {hero} (shouted|said). So each of them worked alone. [{hero} worked
    (all day|until the evening).] (Then the wind came|Then {he} stepped back to look). {fall}, and
    there was nothing left. {hero} looked over at {friend}. It was the same there. [{friend} was
    sitting on the ground and looked {sad}.]

    {hero} went over to {friend}. "I am sorry," {he} said. "(It was more fun together|I should have
    listened to you)." "I am sorry too," said {friend}. They (shook {hands}|hugged) and began again.
    [{hero} held, and {friend} tied. {friend} carried, and {hero} (pushed|lifted).] (By the end of
    the day|When the sun went down), they had built {work} that was {want1} on one side and {want2}
    on the other. [It was the (best|finest) {work_noun} (in the world|they had ever seen).]

    {lesson} (work is lighter when it is shared|friends are more important than being right|two are
    stronger than one). {happily}"""


@plot
def newcomer(s):
    s.hero()
    s.friend()
    s.together("game talent", [
        ("hide and seek", "hiding"), ("catch", "catching"), ("tag", "running"), ("pirates", "finding treasure"),
        ("football", "kicking the ball"), ("follow the leader", "thinking of funny steps")])
    return """{intro} {day}, someone new came to live near {hero}. It was a {kid2} named {friend}.
    {friend} did not know anyone, and {he2} was very shy. {He2} sat (alone on a bench|alone under a
    tree|by {himself2}) and (looked at the ground|watched the others play).

    {hero} was playing {game} with {his} friends when {he} saw {friend}. "(Who is that|Why is that
    {kid2} alone)?" {he} asked. ["(We do not know|Someone new)," said the others. "(Let us just
    play|{He2} does not talk)."] {hero} remembered how it feels to be alone. {He} went over and sat
    down. "(Hello|Hi), I am {hero}," {he} said. "(What is your name|Do you want to play with us)?"

    The {kid2} looked up. "I am {friend}," {he2} said (very softly|in a small voice). "I do not know
    how to play {game}." "{never_mind}," said {hero}. "I will show you." [At first, {friend} was
    (slow|not very good).] Soon everyone saw that {he2} was very good at {talent}! They played until
    (it was dark|dinner). [{friend} (laughed|smiled) for the first time.]

    "Thank you for asking me," said {friend}. ["Will you come again tomorrow?" asked {hero}. "Yes!"
    said {friend}.] {lesson} (a friend can begin with one small word|nobody should have to be
    alone|shy people can be the best of friends). {happily}"""


@plot
def birthday(s):
    s.hero()
    s.friend()
    s.several("gift", ["a {color} kite", "a wooden boat", "a warm scarf", "a book with pictures", "a little drum",
                       "a jar of honey", "a {color} ball", "a box of paints", "a paper crown"], 2)
    return """{opening} (It was {his} birthday|Today was {his} birthday)! {hero} woke up early and
    (ran|hurried) to {his} {parent}. ["(Good morning|Guess what day it is)!" {he} said.] But {his}
    {parent} (was very busy|only nodded). "(I have no time now|Please go and play outside)," {hep}
    said.

    {hero} went to see {friend_who}. But {friend} was busy too. "(I cannot play today|I have to help
    at home)," said {friend}, and (shut the door|ran away). {hero} walked {way1} all alone.
    ["(Everyone has forgotten my birthday|Nobody remembers)," {he} thought.] {He} sat down under a
    tree, and (a tear ran down {his} face|{he} was {sad}).

    When it was evening, {hero} went home (slowly|with a heavy heart). The {den} was dark (and
    quiet|). {He} opened the door. "Surprise!" (shouted everyone|called many voices). [There were
    lights and (flowers|balloons), and a big cake.] {friend} gave {him} {gift1}, and {his} {parent}
    gave {him} {gift2}. ["(We were busy making your party|We would never forget you)!" said
    {friend}.]

    [{hero} (laughed and cried at the same time|did not know what to say).] It was the best birthday
    (ever|of {his} life). {lesson} (those who love you do not forget you|things are not always what
    they seem|a surprise needs a little time)."""


@plot
def wish(s):
    s.hero()
    s.friend()
    s.together("giver where", [("a falling star", "high in the sky"), ("a golden fish", "in the water"),
                               ("an old lamp", "in the sand"), ("a tiny fairy", "under a leaf"),
                               ("a talking stone", "on the path")])
    s.together("want was trouble", [
        ("as tall as a tree", "very tall", "{He} could not get through the door, and nobody could hear {him}"),
        ("as light as a feather", "very light", "The wind carried {him} up and away over the roofs"),
        ("made of gold", "made of gold", "{He} was so heavy and cold that {he} could not run or play"),
        ("so small that nobody could see me", "tiny", "A drop of rain was as big as a house, and every ant was a giant"),
        ("the king of the world", "the king of the world", "{He} had to sit still all day and listen to long speeches"),
        ("always awake", "always awake", "{He} sat alone every night while all the others slept")])
    return """{opening} But {hero} was (never happy with|tired of) the way {he} was. {day}, {he} saw
    {giver} {where}. "(I will give you one wish|You may make a wish)," (said a soft voice|it said).
    ["(Choose well|Think about it first)."]

    [{hero} did not think (long|at all).] "I wish I were {want}!" {he} said. There was a (flash of
    light|soft sound), and (at once|then) {he} was {was}! [At first, it was (fun|wonderful).] But
    then it was not so nice. {trouble}. When {friend_who} came by to play, {hero} could not join in.
    [{He} felt very (alone|lonely).]

    "(I want to be myself again|Please take it back)!" (cried|called) {hero}. [(A tear fell to the
    ground.|{He} said it three times.)] The soft voice came back. "(Are you sure|Is that what you
    want)?" it asked. "Yes," said {hero}. "I only want to be {hero}." There was (another flash|a
    soft sound), and {he} was a {small} {kid} again.

    {hero} ran to {friend} as fast as {he} could, and they played until (night|the stars came out).
    {lesson} (it is good to be just as you are|you should be careful what you wish for|nobody else
    can be you)."""


@plot
def winter(s):
    s.hero(animals=1, species=["squirrel", "badger", "hedgehog", "rabbit"])
    s.friend()
    return """{opening} {His} best friend was {friend} the {kid2}. [It was autumn, and the leaves
    were (red and gold|falling).] Every day, {hero} (gathered|looked for) {treat} and carried them
    home. "(Come and play|Come and dance with me)!" {friend} called. "I cannot," said {hero}.
    "Winter is coming, and I must fill my {den}. [You should do the same.]" But {friend} only
    laughed. "Winter is far away," {he2} said, and {he2} (danced in the leaves|slept in the sun).

    Then winter came. [The snow was deep, and the wind was cold.] {hero} sat in {his} warm {den} and
    ate {treat}. (One evening|One night), there was a knock at the door. It was {friend}. {He2} was
    (thin and cold|cold and hungry). "I have nothing to eat," said {friend}. ["(I should have
    listened to you|I was foolish)."]

    {hero} looked at the food. It was just enough for one winter. But {friend} was {his} friend.
    "Come in," said {hero}. "If we eat a little less, there is enough for two." So they shared the
    food, and {friend} (told funny stories|sang songs) every evening. [The winter was (long|cold),
    but it was never (dull|lonely).]

    The next autumn, {friend} was the first one to get up. "(Let us work first and play later|Today
    we gather food)," {he2} said, and {hero} {laughed}. {lesson} (a shared winter is a short
    winter|a friend is worth more than a full {den}|it is good to think of tomorrow)."""


@plot
def treasure(s):
    s.hero()
    s.friend()
    s.fact("found", "in an old bottle|in a dusty book|under a loose stone|in an old coat|inside a hollow tree")
    s.several("step", ["the old well", "the three tall trees", "the broken bridge", "the big gray rock",
                       "the red gate", "the windmill", "the stone wall", "the little waterfall"], 3)
    s.together("chest use", [
        ("seeds of every kind", "planted them all, and in the spring there were flowers everywhere"),
        ("old songs on paper", "sang them at the summer feast, and everyone danced"),
        ("paints of every color", "painted all the doors, and the place had never looked so bright"),
        ("{color} ribbons", "made kites for all the little ones"),
        ("a silver bell and a note", "hung the bell in a tree and rang it whenever there was good news"),
        ("story books", "read the stories to everyone on long winter evenings")])
    return """{intro} {day}, {hero} found a map {found}. [(It was yellow and very old.|There was a
    big red cross on it.)] "A treasure map!" {he} (whispered|shouted). {He} ran to show it to
    {friend_who}. ["(We will be rich|We must find it)!" said {friend}.] They took a (spade|rope),
    some bread and a lamp, and off they went.

    (First|The map led them first) to {step1}. Then they walked {way1} to {step2}. [{friend} wanted
    to turn back, because (it was far|{he2} was tired), but {hero} said, "Only a little more."] At
    last, they came to {step3}. "Here it is!" said {hero}. [They dug and dug.] Then (they hit
    something hard|there was a loud clunk). It was an old (box|chest)!

    They opened it (slowly|together). [There was no gold inside.] They found only {chest}. ["(Is
    that all|Where is the gold)?" asked {friend}.] {hero} thought for a moment. "(I have an
    idea|This is better than gold)," {he} said. They carried it home, and they {use}.

    [Everyone was {glad}, and {hero} and {friend} were the (happiest|proudest) of all.] {lesson} (a
    treasure is worth most when it is shared|not every treasure is made of gold|the best part of a
    treasure is the friend you find it with)."""


@plot
def sick_friend(s):
    s.hero()
    s.friend()
    s.several("thing", ["carrots", "onions", "mushrooms", "beans", "sweet peas", "potatoes", "herbs", "corn"], 3)
    return """{intro} {day}, {hero} wanted to play with {friend_who}. {He} knocked at the door, but
    nobody came out. [{He} looked in.] {friend} was lying in bed. "(I feel so hot|My head hurts),"
    said {friend}. "I cannot play today." {hero} was {sad}. ["(What can I do|How can I help)?" {he}
    thought.]

    {He} went home and asked {his} {parent}. "Soup is good for a sick friend," said {his} {parent}.
    So {hero} took a basket and went {way1}. {weather_line} {He} found {thing1}, {thing2} and
    {thing3}. Then they made a big pot of soup together. [{hero} (stirred|tasted) it (again and
    again|until it was just right).]

    {hero} carried the pot to {friend}, (very carefully|without spilling a drop). ["(This is for
    you|I made you some soup)," {he} said.] {friend} ate a little, and then a little more. {hero}
    sat by the bed and (told {him2} stories|read {him2} a book|sang softly) until {friend} fell
    asleep. [(The next day, {he} came again.|{He} came back every day.)]

    After (three|a few) days, {friend} (jumped out of bed|was well again). "Your soup was (the best
    medicine|like magic)," said {friend}. ["And so were you."] Then they ran outside to play.
    {lesson} (a good friend is the best medicine|small things help when they come from the
    heart|friends are there on bad days too)."""


@plot
def picnic(s):
    s.hero()
    s.friend()
    s.fact("shelter", "an old barn|a dry cave|a big hollow tree|an empty shed")
    s.last_word("shelter_noun", "shelter")
    s.together("play detail", [
        ("a ship", "The basket was the sail, and the blanket was the sea"),
        ("a castle", "{friend} was the giant, and {hero} was the dragon"),
        ("a shop", "They sold stones for leaves and leaves for stones"),
        ("a theater", "{hero} sang, and {friend} danced until they could not stop laughing"),
        ("a kitchen", "They cooked soup from rain and leaves and gave it to the mice")])
    return """{opening} (All week|For days), {hero} and {friend_who} had planned a picnic. {day},
    they packed a basket with (bread, cheese and plums|cake and apples|cookies and juice). They
    walked {way1} and put down a blanket. [(Everything was perfect.|It was a lovely spot.)]

    But then a big gray cloud came. Drip, drop, drip! It began to rain. ["(Our picnic is ruined|Oh
    no, our picnic)!" cried {friend}, and {he2} was {sad}.] They (took the basket|picked everything
    up) and ran as fast as they could. At last, they found {shelter}. [They were (wet and cold|wet
    from head to toe).]

    {hero} looked around. "(I have an idea|I know what we can do)," {he} said. "This {shelter_noun}
    is {play}!" {friend} (dried {his2} tears|began to smile). So they played. {detail}. They ate
    their food inside, and it tasted (even better|better than ever). [They did not even (see|hear)
    that the rain had stopped.]

    When they came out, there was a rainbow over (the hill|the trees). "That was the best picnic
    ever," said {friend}. {lesson} (a rainy day can be the best day|you can make fun out of
    anything|a good friend brings the sun along)."""


@plot
def greedy(s):
    s.hero()
    s.friend()
    s.fact("sweet", "berries|plums|cherries|honey cakes|cookies|pears")
    return """{intro} {day}, {hero} and {friend_who} found (a lot of|a whole basket of) {sweet}.
    {weather_line} "(Let us take them home and share them with everyone|Let us keep some for the
    others)," said {friend}. But {hero} loved {sweet} more than anything. When {friend} was not
    looking, {he} ate one. [It was so (sweet|good)!] {He} ate another one, and then another one.

    "Where are all the {sweet}?" asked {friend} after a while. {hero} (wiped {his} mouth|turned
    red). ["(I do not know|Maybe a bird took them)," {he} said.] But {his} face was (sticky|full of
    crumbs and juice), and soon {his} stomach began to hurt. ["Oh, oh, oh!" cried {hero}, and {he}
    lay down in the grass.]

    {friend} ran to get {his} {parent}. [They gave {hero} warm tea and put {him} to bed.] "I ate all
    the {sweet} (by myself|alone)," said {hero}. "I am sorry, {friend}. [I did not even leave one
    for you.]" "(I am glad that you told me|I forgive you)," said {friend}. "But next time, we
    share."

    The next day, {hero} went out early and (worked|looked) all day to get new {sweet}. {He} gave
    them (all to {friend}|to {friend} and the others), and (kept only one|took just one) for
    {himself}. [It was the (sweetest|best) of all.] {lesson} (sharing tastes better than having it
    all|too much of a good thing is not good|it is better to share than to hide)."""


@plot
def band(s):
    s.hero(animals=1)
    s.friend()
    s.together("voice sound reaction", [
        ("sing", "It sounded like an old door", "covered their ears"),
        ("dance", "{He} stepped on everyone and fell down", "laughed"),
        ("play the flute", "It sounded like a cold wind", "covered their ears")])
    s.fact("object", "an empty pot|a box of stones|an old pan|a hollow log|an old bucket")
    return """{opening} All the animals were getting ready for the summer feast. [(There would be
    music and dancing.|Everyone wanted to be in the band.)] {hero} wanted to {voice}, so {he} tried.
    {sound}. The others {reaction}. "You cannot be in the band," they said.

    {hero} went away and was {sad}. {He} sat down (by the pond|behind a bush|under a tree) and
    kicked {object}. [It made a nice sound!] {He} hit it again, slowly, and then fast. Tap, tap,
    boom! {Friend_who} heard it and came closer. "(What a fine sound|That sounds good)!" said
    {friend}. "(Do it again|Please go on)!" {hero} played, and {friend} (danced|clapped) along.
    [They practiced {far}, every day.]

    Then the feast came. The band began to play, but something was missing. [(Nobody could keep
    time.|Nobody danced.)] Then, from the back, came a sound. Tap, tap, boom! It was {hero} with
    {object}. [The feet of all the animals began to move.] Soon (everyone|even the old owl) was
    dancing.

    "We were wrong," said the others. "(Please stay in the band|You are the heart of our band)."
    {hero} {laughed}. {lesson} (everyone is good at something|you should not laugh at those who
    try|there is a place for everyone)."""


@plot
def snow(s):
    s.hero(animals=0.4)
    s.friend()
    s.fact("wear", "a {color} scarf|an old hat|a {color} hat|a paper crown")
    s.fact("nose", "carrot|pine cone|red apple")
    return """{intro} (One winter morning|One cold morning), {hero} looked out and everything was
    white. It had snowed all night! {He} (ran|hurried) outside to {friend_who}. "Let us make a
    (snowman|big snowman)!" said {hero}. They rolled a big ball, a middle ball and a small ball.
    They gave the snowman a {nose} for a nose, two (stones|buttons) for eyes, and {wear}.

    "(He looks lonely|He needs a name)," said {friend}. So they (sang to him|named him Frost) and
    (danced around him|played beside him) all day. At night, {hero} said, "Good night, snowman."
    [And {he} thought that the snowman smiled.]

    [They played with him (every day|all winter).] But then the sun grew warm. Drip, drip, drip! The
    snowman (became smaller and smaller|began to melt). "Do not go!" cried {hero}, and {he} was
    {sad}. One morning, there was only a little water with {wear} in it. {hero} (picked it up|held
    it) and a tear fell down.

    "Look," said {friend}. Where the snowman had been, the first (flower|spring flower) was growing.
    "(The snowman gave it water|He left us a gift)," said {friend}. {hero} {laughed}. ["We will
    build him again next winter," {he} said.] {lesson} (every end is also a beginning|good things
    come back|you can be happy about what was, even when it is gone)."""


@plot
def puddles(s):
    s.hero()
    s.friend()
    s.fact("count", "two|three|four|seven|ten")
    return """{intro} It had rained all night, and there were puddles everywhere. {hero} (looked out
    and smiled|could not wait to go outside). [{Friend_who} came too.] Splash! {hero} jumped into
    the first puddle. Splash! {He} jumped into the next one. (The water flew up to the sky.|Drops of
    mud flew everywhere.)

    "{hero}!" called {his} {parent}. "You are wet from head to toe!" {hero} looked down. {He} was
    (brown and wet|covered in mud), and so were {his} {hands}. "I am sorry," {he} said. {His}
    {parent} looked at {him}, and then at the biggest puddle of all. [(The sun shone in it like
    gold.|There was a piece of the sky in it.)] "(Is there room for two|May I try)?" {hep} asked.
    Splash!

    They jumped into {count} more puddles. Then they went home to get dry, and they (drank something
    warm|sat by the fire). {lesson} (rain can be as much fun as sunshine|even grown ups like to
    play)."""


@plot
def moon(s):
    s.hero()
    s.friend()
    return """{opening} One night, {hero} saw the moon in the (pond|lake|river). It was round and
    white. "The moon has fallen into the water!" {he} cried. "(I must get it out|Somebody must help
    it)." {He} ran to get {friend_who}, and they took a (net|long branch).

    They pulled and pulled. But each time, the moon (broke into a hundred pieces|danced away), and
    then it was whole again. "It does not want to come," said {friend}. {hero} (sat down|fell into
    the grass) and was {sad}. [{He} was wet and tired.] And then {he} looked up. There was the moon,
    high in the sky!

    "(We did it|Look, it is back)!" shouted {hero}. "It is back where it belongs!" {friend} looked
    at the water and at the sky, and {he2} smiled. "(Yes|Well done)," said {friend}. They sat
    together and looked at the (two moons|moon) (until they fell asleep|for a long time). [{lesson}
    (it is good to look up|some things are too big to hold).]"""


@plot
def hide_and_seek(s):
    s.hero()
    s.friend()
    s.several("spot", s.spots, 2)
    s.fact("last", "the old barrel|the hay|the big box|the top of the tree|the tall grass")
    s.fact("sound", "a sneeze|a small laugh|a hiccup|a soft giggle")
    return """{intro} {day}, {hero} and {friend_who} (played|wanted to play) hide and seek.
    {weather_line} {hero} counted to (ten|twenty), and {friend} ran away to hide. "I am coming!"
    called {hero}.

    {He} looked {spot1}. Nobody was there. {He} looked {spot2}. [There was only a
    (cat|spider|bucket).] Where was {friend}? {hero} looked and looked, but {he} could not find
    {him2}. "(Come out|I give up)!" {he} called. But nobody came. [{hero} began to worry.] Then {he}
    stood very still and listened. There was {sound}! It came from {last}.

    "(I found you|There you are)!" shouted {hero}. {friend} (laughed|came out) and said, "You have
    good ears!" Then they (played again|changed places) until (dinner|it was dark). {lesson}
    (sometimes it is better to listen than to look|a quiet moment can help you find the answer)."""
