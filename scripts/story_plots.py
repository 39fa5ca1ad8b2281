"""The plots of story_generator.py: each settles its facts and returns the template of its stories."""

PLOTS = []


def plot(function):
    PLOTS.append(function)
    return function


@plot
def lost_thing(s):
    s.hero(animals=0)
    s.helper()
    s.fact("toy", """{color} (ball|kite|hat|scarf|drum)|toy boat|toy train|teddy bear|wooden horse|music box|
        silver bell|picture book""")
    s.several("spot", s.spots, 3)
    return """{intro} {hero} had a {toy} that {he} (loved very much|took everywhere|liked more than
    anything else). [(It was a gift from {his} (aunt|uncle).|It was old, but {hero} did not mind.)]

    {day}, the {toy} was gone. "(Where is my {toy}|Has anyone seen my {toy})?" (cried|asked) {hero}.
    {He} looked {spot1}, but (it was not there|there was only an old shoe|{he} found only dust).
    [{He} looked {spot2}, but (it was not there either|{he} saw only a sleepy cat|{he} found
    nothing|there was only a spoon).]

    {hero} sat down and (began to cry|felt very sad|did not know what to do). Then {helper_who} came
    (in|by). "(What is wrong|Why are you so sad)?" asked {helper}. "I have lost my {toy}," said
    {hero}. "{never_mind}," said {helper}. "(Let us look together|We will find it|I will help you).
    Where did you play yesterday?" {hero} (thought hard|thought for a moment|closed {his} eyes and
    thought). "I played {spot3}!" {he} said.

    They (ran|went|hurried) to look {spot3}, and there (was the {toy}|it was)! {hero} (jumped for
    joy|hugged {helper}|laughed and held it tight). {thanked} [That night, {hero} put the {toy} next
    to {his} bed.] {lesson} (it is good to ask for help|two can find more than one|it is wise to put
    things back in their place)."""


@plot
def shared_meal(s):
    s.hero()
    s.fact("food", """berry pie|honey cake|loaf of bread|bag of nuts|basket of (plums|apples|berries)|
        big cookie|piece of cheese""")
    s.stranger("""(small|hungry|little) (bird|mouse|rabbit)|(thin|tired) (dog|cat|goat)|
        (old|little) (goose|donkey)""")
    s.together("trouble rescue", [
        ("{hero} got lost in the fog", "showed {him} the way home"),
        ("{hero} lost {his} way in the woods", "led {him} safely home"),
        ("{hero} fell into a muddy hole", "ran to get help and a long rope"),
        ("{hero} had nothing to eat", "came to the door with (bread and cheese|nuts and apples)"),
        ("it was so cold that {hero} could not sleep", "brought {him} a warm blanket"),
        ("{hero} was sick and had to stay in bed", "brought {him} hot soup every day")])
    return """{opening} {day}, {hero} was (walking|going for a walk) {way1} with a {food} for lunch.
    {weather_line} (Soon, {he} was very hungry.|{He} had walked {far}, and {he} was hungry.) {He}
    sat down (under a tree|on a flat stone|in the grass) and was (about to take the first bite|ready
    to eat).

    Just then, a {stranger} came by. ("I have not eaten (all day|since yesterday)," said the
    {other}. "(Could I have a little bit?|May I have some, please?)"|The {other} did not say a word,
    but looked at the {food} with big eyes.) {hero} looked at the {food}. There was (not very
    much|only enough for one). But {he} (felt sorry for the {other}|saw how hungry the {other}
    was|was a {trait} {kid}). "(Come and sit with me|Please sit down)," said {hero}. "(We can
    share|You can have half of it)."

    [They ate together and talked (until the sun went down|about many things).] (The {other} was
    very happy.|"You are very kind," said the {other}.|Nothing had ever tasted so good.) {later},
    {trouble}. (The {other} heard about it and came at once|But the {other} did not forget {him}).
    The {other} {rescue}. ["(You helped me, and now I can help you|You shared with me, and I
    remember it)," said the {other}.]

    {lesson} (kindness comes back|sharing makes everything taste better|a small gift can make a big
    friend). {happily}"""


@plot
def learning(s):
    s.hero(animals=0)
    s.helper()
    s.together("skill trouble1 trouble2 success", [
        ("ride a bike", "{he} fell into a bush", "{he} rode right into the mud",
         "{he} rode all the way down the road"),
        ("swim", "water went up {his} nose", "{he} sank like a stone", "{he} swam across the pond"),
        ("whistle", "only air came out", "it sounded like a sick bird", "a clear and sweet song came out"),
        ("skate", "{he} sat down hard on the ice", "{he} slid into the snow", "{he} flew over the ice like a bird"),
        ("juggle", "the balls rolled under the table", "a ball hit {him} on the head",
         "all three balls danced in the air"),
        ("play the flute", "it made a terrible noise", "the cat ran out of the room",
         "a lovely song filled the house"),
        ("jump over the rope", "{his} feet got stuck", "{he} fell on the grass", "{he} jumped twenty times in a row"),
        ("fly a kite", "the kite fell into a tree", "the string broke", "the kite danced high above the hill"),
        ("climb the big rock", "{he} slid back down", "{he} was too {afraid} to go on",
         "{he} stood on the top and waved"),
        ("bake bread", "the bread was as hard as a stone", "the bread was black", "the bread was soft and golden"),
        ("stand on {his} hands", "{he} fell over like a tree", "{he} got grass in {his} hair",
         "{he} stood on {his} hands and even walked")])
    return """{intro} {hero} wanted to learn to {skill}. [(All {his} friends could do it.|It looked
    so easy when others did it.|{He} had dreamed of it all year.)]

    {day}, {he} tried for the first time. But {trouble1}. [{He} tried again, and {trouble2}.] "(I
    will never learn it|I cannot do it|This is too hard)!" (cried|said) {hero}, and {he} was {sad}.
    {Helper_who} (saw it|heard {him}) and came over. "{never_mind}," said {helper}. "(I could not do
    it at first either|Nobody can do it the first time|It takes time). (Try a little every day|Let
    us try it together)."

    So {hero} tried (every morning|every day after school|each day). [On the first day, it did not
    go well. On the second day, it went a little better.] (On the third day|After a week|And then,
    one {daytime}), {success}! ["(Look at me|I can do it|I did it)!" {hero} (shouted|called).]
    {Helper} (clapped|cheered|was very proud).

    {lesson} (if you keep trying, hard things become easy|you must never give up too soon|you can
    learn anything a little at a time)."""


@plot
def too_far(s):
    s.hero()
    s.fact("lure", "blue butterfly|white feather|(bright|golden) bird|little dragonfly|shiny beetle")
    s.last_word("lure_noun", "lure")
    s.stranger("(wise|old|big) owl|(gentle|old) deer|(slow|old) turtle|(kind|gray) goose")
    s.together("sign path", [
        ("the river", "Follow the river, and it will bring you home"),
        ("the bright star", "Follow the bright star, and it will bring you home"),
        ("the white stones", "Follow the white stones, and they will bring you home"),
        ("the sound of the bell", "Follow the sound of the bell, and it will bring you home")])
    return """{opening} "(Do not go too far|Stay close to the {den}|Do not go into the woods
    alone)," {his} {parent} (always|often) said.

    {day}, {hero} was playing outside when {he} saw a {lure}. {weather_line} ["(How pretty|How
    lovely|Oh, look)!" said {hero}.] {He} followed it {way1} and {way2}, (farther and
    farther|without looking back). Then the {lure_noun} was gone. [{hero} looked around. (Nothing
    looked the way it did at home.|{He} did not know where {he} was.)] It was getting dark, and {he}
    was {afraid}.

    ["(Is anyone there?|Can anyone help me?)" {he} called.] A {stranger} (came out of the
    trees|looked down at {him}|came closer). "(Why are you crying|Why are you out so late), little
    {kid}?" asked the {other}. "I (followed a {lure} and now I am|am) lost," said {hero}. "(Dry your
    tears|Do not be afraid|I know the way)," said the {other}. "{path}."

    {hero} thanked the {other} and followed {sign}, step by step. (At last|Soon), {he} saw the
    (light|door) of {his} {den}. {His} {parent} ran out and (held {him} tight|hugged {him}). ["(I
    was so worried|I am so glad you are back)!" {hep} said.] {hero} (ate some warm soup and went to
    bed|told the whole story). {lesson} (it is wise to stay close to home|there is always someone
    who can help|you should listen to those who love you)."""


@plot
def dark_night(s):
    s.hero()
    s.together("noise cause after", [
        ("a soft scratching", "a tiny cat who wanted to come in", "The cat slept at {his} feet that night"),
        ("a strange tapping", "a branch that the wind moved", "{He} went back to bed and slept until the morning"),
        ("a low howl", "the wind in an empty pot", "{He} turned the pot over, and it was quiet"),
        ("a small squeak", "a baby bat who had lost its mother", "{He} held up the lamp until its mother came"),
        ("a long sigh", "an old dog who was cold", "{He} gave the dog a blanket and some water"),
        ("a soft knocking", "a bird who was looking for a dry place", "{He} made a bed of straw for the bird")])
    return """{opening} {hero} was not afraid of (big dogs|deep water|tall trees|storms), but {he}
    was {afraid} of the dark. [(Every night, {he} hid under the blanket.|At night, {he} never left
    {his} bed.|{He} always left a candle burning.)]

    One (dark|windy|cold) night, {hero} heard {noise}. [(It came again and again.|It came from
    outside.|Then it was quiet, and then it came again.)] "(What is that|Who is there)?" {he}
    (whispered|asked). [Nobody answered.] {He} wanted to (hide|call {his} {parent}|run away), but
    everyone was asleep. So {he} took a (little|bright) lamp and (walked|went) slowly to the door.
    [{His} heart was beating (fast|like a drum).]

    {He} opened the door (just a little|very slowly) and held up the lamp. And what did {he} see? It
    was only {cause}! {hero} (laughed and laughed|had to laugh). ["(So you are my monster|And I was
    so afraid of you)!" {he} said.] {after}.

    (From that night on, {hero} was not so {afraid} anymore.|The next night, {hero} slept without a
    light.) {lesson} (things look smaller when you (look at them|bring a light)|most monsters are
    only noises|being brave means going on when you are {afraid})."""


@plot
def hurt_animal(s):
    s.hero(animals=0)
    s.together("pet pet_noun part food", [
        ("a little bird", "bird", "wing", "seeds"), ("a small hedgehog", "hedgehog", "foot", "apples"),
        ("a baby rabbit", "rabbit", "leg", "carrots"), ("a gray owl", "owl", "wing", "bread"),
        ("a young squirrel", "squirrel", "paw", "nuts"), ("a white dove", "dove", "wing", "seeds"),
        ("a small turtle", "turtle", "foot", "leaves"), ("a little duck", "duck", "leg", "bread")])
    return """{intro} {day}, {hero} (was walking|went for a walk) {way1}. {weather_line} {He} heard
    a (soft|small|sad) sound. (Under a bush|In the grass|Next to a stone), {he} found {pet}. Its
    {part} was hurt, and it could not move. ["(You poor thing|Oh, no|Do not be afraid)," said
    {hero}. "I will help you."]

    {He} (put the {pet_noun} in {his} hat|wrapped the {pet_noun} in {his} scarf) and carried it
    home. {His} {parent} (cleaned|looked at) the {part} and tied a (soft|white) cloth around it.
    [They made a bed in a box (with soft grass|with an old blanket).] Every day, {hero} gave the
    {pet_noun} {food} and water, and every night {he} (sang to it|told it a story). [At first, it
    was shy. But soon it ate out of {his} hand.]

    After (two|three|some) weeks, the {part} was well again. "(It is time to let it go|It wants to
    go home now)," said {his} {parent}. [{hero} was {sad}, but {he} knew that it was right.] {He}
    carried the {pet_noun} back to (the woods|the tree|the field) and said (goodbye|a soft goodbye).
    [The {pet_noun} looked at {him} once and was gone.]

    (The next spring|One year later|Some time later), {hero} heard a sound at the (window|door). It
    was the {pet_noun}, and it had brought its (family|little ones)! {hero} {laughed}. {lesson} (a
    kind heart is never forgotten|those we help become our friends|to love something is also to let
    it go)."""


@plot
def seed(s):
    s.hero(animals=0.4)
    s.parent("grandma|grandpa" if not s.animal else "grandmother|grandfather")
    s.together("plant result", [
        ("sunflower", "a sunflower that was taller than the (house|fence)"), ("pumpkin", "a pumpkin as big as a wagon"),
        ("apple", "a little tree with the first red apple"), ("rose", "a rose that smelled sweet all day"),
        ("bean", "a bean plant that climbed up to the roof"), ("melon", "a sweet and heavy melon"),
        ("tulip", "a tulip as red as the evening sun")])
    return """{intro} {day}, {hero} got a (tiny|small) {plant} seed from {his} {parent}. "(Plant it
    in the ground and take care of it|Put it in the earth and wait)," said {his} {parent}. {hero}
    (ran outside|went out at once), dug a small hole and (put|laid) the seed inside. {He} gave it
    water and (sat down to watch|waited).

    The next day, {hero} looked, but there was nothing. [{He} gave it water again.] After
    (three|four|five) days, there was still nothing. ["(It does not work|My seed is asleep|Nothing
    is happening)," said {hero}.] {He} wanted to (dig it up|give up). "(Wait a little longer|Good
    things take time)," said {his} {parent}. "(A seed works where you cannot see it|A seed does not
    have a clock|First the roots must grow)."

    So {hero} waited. {He} gave it water (every morning|each day) and (sang to it|pulled out the
    weeds|told it stories). (Then|One {daytime}), a small green leaf came out of the ground! {hero}
    {laughed}. [The leaf (grew and grew|became two leaves, and then four).] At the end of the
    summer, there was {result}.

    [(Everyone came to see it.|{hero} showed it to (all {his} friends|everyone nearby).|"Well done,"
    said {his} {parent}.)] [{hero} kept one seed for the next year.] {lesson} (good things need
    time|waiting is also a kind of work|small things can grow big when you care for them)."""


@plot
def broken(s):
    s.hero(animals=0)
    s.fact("thing", "{color} (vase|bowl|cup|plate|lamp)|glass bird|old clock|flower pot")
    s.fact("hidden", "under the bed|behind the door|in a box|under the stairs|behind the chair")
    return """{opening} {His} {parent} had a {thing} that {hep} loved very much. "(Please be careful
    with it|Do not play near it)," {hep} always said.

    {day}, {hero} was playing with a ball in the house. {weather_line} {He} threw the ball (up
    high|a little too hard|against the wall), and it hit the {thing}. Crash! The {thing} lay on the
    floor in (many|three|a hundred) pieces. [{hero} was {afraid}.] {He} quickly hid the pieces
    {hidden}.

    At dinner, {hero} could not eat. [{His} (stomach|heart) felt heavy.] "(What is the matter|Are
    you sick)?" asked {his} {parent}. {hero} (looked at the floor|was quiet for a long time). Then
    {he} began to cry. "I broke your {thing} with the ball," {he} said. "I hid it {hidden}. I am so
    sorry."

    {His} {parent} (was quiet for a moment|took {him} by the hand). "I am sad about the {thing},"
    {hep} said. "But I am (glad|proud) that you told me the truth. [(A thing can be fixed|That was
    brave).]" They got some glue and put the pieces together (one by one|again). [(It was not as
    pretty as before, but they liked it even more.|You could still see the cracks, but it was
    whole.)] {lesson} (the truth makes a heavy heart light|it is brave to tell the truth|it is
    better to say sorry than to hide)."""


@plot
def race(s):
    s.hero(animals=1, species=["turtle", "mouse", "hedgehog", "duck", "frog", "badger"])
    s.together("other brag", [("hare", "I am faster than the wind"), ("pony", "Nobody can run like me"),
                              ("deer", "My legs are the longest"), ("goat", "I can jump over anything"),
                              ("fox", "I am the fastest of all")])
    s.together("trap freed", [
        ("stuck in the mud", "pulled and pulled until the {other} was free"),
        ("caught in a thorn bush", "bent the thorns away one by one"),
        ("lying in a deep hole", "let down a long branch"),
        ("stuck between two rocks", "pushed until the {other} was free")])
    return """{opening} Nearby lived a {other} who was very proud. "{brag}!" the {other} said every
    day. "(Does anyone want to race me?|Who wants to race with me?)" Nobody wanted to. But {hero}
    said, "I will race you." [The others laughed, because {hero} was only a (small|slow) {kid}.]

    The next morning, everyone came to watch. {weather_line} "One, two, three, go!" called the owl.
    The {other} (ran off|was gone in a moment). {hero} went (step by step|slowly but steadily),
    {way1} and {way2}. [(The sun was hot|{His} legs were tired|It was a long way), but {he} did not
    stop.]

    Then {hero} heard someone calling for help. It was the {other}, who was {trap}! {hero} could
    have (gone on|won the race). But {he} stopped at once. {He} {freed}. "(Why did you help me|You
    could have won)," said the {other}. "(A race is only a race|You needed help)," said {hero}.

    So they went on together and crossed the line side by side. [Everyone (cheered|clapped).] "I was
    wrong," said the {other}. "You are the real winner." {lesson} (helping is better than
    winning|being kind is more important than being fast|the strong sometimes need the small).
    {happily}"""


@plot
def small_helper(s):
    s.hero(animals=0)
    s.fact("thing", "{color} (kite|hat|balloon)|paper plane")
    s.several("big", ["a tall man", "a strong horse", "a big dog", "the baker", "a farmer with a ladder",
                      "a fat goose", "the mayor"], 2)
    for big in ("big1", "big2"):
        s.facts[big + "_again"] = "the " + s.facts[big].split(" ", 1)[1].split(" with ")[0]
    s.stranger("tiny (mouse|squirrel|bird|bee)|little (mouse|squirrel|ant|bird)")
    s.together("try1 try2", [
        ("could not reach it", "jumped, but not high enough"), ("had no time", "tried, but got tired"),
        ("pulled at the tree, but nothing moved", "shook the tree, but only leaves came down")])
    return """{intro} {day}, {hero} was playing with {his} {thing} when the wind took it. It flew
    {way1} and got stuck at the very top of a tall tree. "My {thing}!" cried {hero}. [{He} tried to
    climb the tree, but the branches were too (thin|high).]

    {hero} asked {big1} for help. {Big1_again} {try1}. [Then {he} asked {big2} for help.
    {Big2_again} {try2}.] {hero} sat down under the tree and was {sad}. "I can help you," said a
    (small|thin) voice. It was a {stranger}. {hero} (smiled|shook {his} head). ["You?" {he} said.]
    "But you are so small." "(That is just why|Wait and see)," said the {other}.

    And (quick as the wind|in a moment), the {other} went up and up, over the thin branches, to the
    very top. (The {other} pushed a little here and pulled a little there|There was a little tug),
    and down came the {thing}! {hero} {laughed}. ["(What can I give you|How can I thank you)?" asked
    {hero}. "(Just let me play too|Come and visit me)," said the {other}.]

    So {hero} and the {other} played together (all day|until the evening). {lesson} (small friends
    can be a big help|nobody is too small to help|you should never laugh at someone small).
    {happily}"""


@plot
def handmade_gift(s):
    s.hero()
    s.together("made stuff", [
        ("a little boat", "a piece of wood"), ("a picture of the {den}", "paper and paint"),
        ("a chain of flowers", "flowers from the meadow"), ("a warm scarf", "{color} wool"),
        ("a bowl", "clay from the river"), ("a crown", "golden leaves"), ("a lantern", "paper and a candle"),
        ("a wind chime", "shells and string")])
    return """{intro} Soon it would be the birthday of {his} {parent}, and {hero} wanted to give
    {himp} something (special|beautiful). [{He} went to the market and looked at all the
    (lovely|shiny) things.] But {he} had only (one small coin|two small coins). ["(Everything costs
    too much|That is not enough)," {he} said, and {he} walked home slowly.]

    On the way, {hero} met an old woman who was (sitting on a bench|feeding the birds). "Why do you
    look so (sad|unhappy)?" she asked. {hero} told her. [The old woman smiled.] "(The best gifts are
    not in a shop|A gift from your own {hands} is worth more than gold)," she said.

    {hero} thought about it all night. In the morning, {he} took {stuff} and began to work. [It was
    not easy. (Twice|Three times) {he} had to start again.] In the evening, {he} had made {made}.
    (It was a little crooked, but it was very pretty.|It was not perfect, but it was full of love.)

    On the birthday, {hero} (gave {his} {parent} the gift|held out the gift). "Did you make this
    (yourself|for me)?" asked {his} {parent}. {hero} nodded. [{His} {parent} (had tears in {hisp}
    eyes|hugged {him} for a long time).] "This is the most beautiful gift of all," {hep} said.
    {lesson} (a gift from the heart costs nothing|what you make with love is worth the most)."""


@plot
def lost_baby(s):
    s.hero()
    s.together("baby mother call", [
        ("duckling", "duck", "quack"), ("lamb", "sheep", "baa"), ("chick", "hen", "cheep"), ("calf", "cow", "moo"),
        ("piglet", "pig", "oink"), ("gosling", "goose", "honk")])
    asked = [("a farmer", "the farmer"), ("an old horse", "the horse"), ("a busy beaver", "the beaver"),
             ("a crow on a fence", "the crow"), ("a goat on a rock", "the goat"), ("a cat on a wall", "the cat")]
    for index, (first, again) in enumerate(s.random.sample(asked, 2)):
        s.facts[f"ask{index + 1}"], s.facts[f"again{index + 1}"] = first, again
    s.fact("there", """by the river|behind the barn|on the other side of the hill|next to the big pond|
        at the old mill""")
    return """{intro} {day}, {hero} was on {his} way home {way1} when {he} heard a tiny sound.
    "{Call}, {call}!" It was a little {baby}, all alone. [(It was shaking with cold.|It looked up at
    {him} with big eyes.)] "Where is your mother?" asked {hero}. "{Call}," said the {baby} sadly.
    "{never_mind}," said {hero}. "We will find her."

    {He} (picked up the {baby}|took the {baby} along), and they met {ask1}. "Have you seen a
    {mother} without her {baby}?" asked {hero}. "No," said {again1}. ["(Ask someone else|I have been
    here all day)."] They walked on, {way2}, and met {ask2}. "Have you seen a {mother} without her
    {baby}?" asked {hero} again. "Yes," said {again2}. "There is a {mother} {there}, and she is
    calling and calling."

    {hero} thanked {again2} and ran (as fast as {he} could|all the way). And there, {there}, was the
    {mother}! "{Call}, {call}!" cried the {baby} and ran to its mother. The {mother} (was so happy
    that she danced|covered the {baby} with kisses). ["Thank you, dear {kid}," said the {mother}.
    "You have a good heart."]

    [(It was late when {hero} came home.|{hero} went home with a warm feeling.)] {lesson} (nothing
    is better than coming home|it is worth a long way to help someone small|you must keep asking
    until you find the answer)."""


@plot
def sad_king(s):
    s.hero(animals=0.3)
    s.fact("ruler", "king|queen")
    s.pronouns("h", "boy" if s.facts["ruler"] == "king" else "girl")
    s.together("act mishap", [
        ("sing a song", "a cricket jumped out of {his} pocket and sang along"),
        ("do a dance", "{he} slipped and landed in a cake"),
        ("tell a joke", "{he} forgot the end and told the beginning again"),
        ("juggle three eggs", "all three eggs landed on {his} head"),
        ("play the drum", "the drum rolled down the stairs and {he} ran after it"),
        ("do a trick with a hat", "the hat began to walk by itself")])
    s.several("show", ["a clown with a big nose", "a singer from far away", "a man with a dancing bear",
                       "a cook with a huge cake", "a rich man with a golden bird", "a wizard with a box of stars"], 2)
    return """(Once upon a time|Long ago), there was a {ruler} who (never smiled|could not laugh).
    {Heh} had (a golden crown|a big castle) and (a hundred rooms|a thousand horses), but {heh} was
    always {sad}. "Whoever makes me laugh may ask for anything," said the {ruler}.

    Many came to the castle. First came {show1}, but the {ruler} did not laugh. [Then came {show2},
    but the {ruler} only (looked out of the window|shook {hish} head).] In the same land lived a
    {small} {kid} named {hero}. "I will try," said {hero}. [Everyone (laughed at {him}|said it was
    no use), but {he} went {way1} to the castle.]

    {hero} (bowed|stood) before the {ruler} and was a little {afraid}. "I want to {act}," {he} said.
    {He} began, but {mishap}! [It was very quiet.] Then there was a small sound. It was the {ruler}.
    {Heh} was laughing! {Heh} laughed and laughed until the whole castle laughed too.

    "(What do you want|Ask for anything), {hero}," said the {ruler}. ["(Gold|A horse|A house)?"]
    {hero} thought about it. "I want you to come to our {den} and (eat|play) with us on Sundays,"
    {he} said. And that is what the {ruler} did. [{Heh} was never {sad} again.] {lesson} (laughing
    is worth more than gold|even a {ruler} needs a friend)."""


@plot
def trade(s):
    s.hero(animals=0.3)
    chain = [("a button", "a tailor", "needed a button for his best coat"), ("a ball of string", "a boy with a kite",
              "needed string for his kite"), ("a red apple", "a hungry horse", "wanted something sweet"),
             ("a feather", "a poet", "had lost his pen"), ("a pot of glue", "a toy maker", "had a broken doll to fix"),
             ("a bag of flour", "a baker", "had no flour left"), ("a warm blanket", "an old sailor", "was shaking with cold")]
    for index, (thing, who, need) in enumerate(s.random.sample(chain, 2)):
        s.facts.update({f"thing{index + 1}": thing, f"who{index + 1}": who, f"need{index + 1}": need,
                        f"noun{index + 1}": thing.split()[-1], f"again{index + 1}": "the " + who.split(" ", 1)[1]})
    s.fact("dream", "a boat of {his} own|a little dog|a {color} bike|a window to see the stars|a garden")
    return """{opening} {He} dreamed of {dream}, but all {he} had was {thing1}. "(That is better
    than nothing|It is a start)," {he} said, and {he} put it in {his} bag and went {way1}.

    Soon {he} met {who1}, who {need1}. "(Take this|You can have mine)," said {hero}, and gave
    {again1} the {noun1}. {Again1} was so {glad} that {hero} got {thing2} for it. {hero} went on,
    {way2}. There {he} met {who2}, who {need2}. "(Take this|This is for you)," said {hero}, and gave
    away the {noun2} too. [(Now {his} bag was empty.|Now {he} had nothing left.)] {hero}
    (whistled|sang) and went home.

    But {again1} and {again2} (talked about it everywhere|did not forget it). "What does {hero}
    dream of?" they asked {his} {parent}. And one week later, when {hero} opened the door in the
    morning, there it was: {dream}! "(This is from all of us|You gave us what we needed)," they
    said.

    {hero} {laughed}. {lesson} (a gift comes back bigger than it went|you never lose what you give
    away|good things go from hand to hand)."""


@plot
def fog(s):
    s.hero(animals=0, place="near the harbor|by the sea|in a (small|little) village by the sea")
    s.fact("ship", "fishing boat|big ship|little boat|boat with a white sail")
    s.fact("signal", "rang the big bell|beat {his} drum|blew into {his} horn|sang as loud as {he} could|hit two pots together")
    return """{opening} {hero} knew the (sea|harbor) well, because {his} {parent} (went out to catch
    fish|worked on the water) every day. "When I see the lighthouse, I know that I am home," {his}
    {parent} always said.

    One (evening|morning), a thick fog came in from the sea. [(It was as white as milk.|You could
    not see your own feet.)] {hero} ran to the lighthouse, but the light was out! The old keeper was
    sick in bed. And out there on the water was a {ship} with {his} {parent} in it. ["(They will hit
    the rocks|They cannot find the way)," {he} thought.] [{He} was {afraid}, but there was no time
    to (lose|be {afraid}).]

    {hero} climbed all the steps to the top. [{He} could not light the big lamp.] So {he} {signal}.
    {He} did it again and again, until {his} arms were tired. [(For a long time, nothing
    happened.|Nobody answered.)] Then {he} heard a shout. Slowly, a (dark shape|{ship}) came out of
    the fog. {He} had shown them the way!

    {His} {parent} jumped out and (lifted {him} up high|held {him} tight). "(We followed your
    sound|I heard you, and I knew it was you)," {hep} said. {lesson} (even a small sound can show
    the way|when one light goes out, you can find another|you are braver than you think)."""


@plot
def loose_tooth(s):
    s.hero(animals=0)
    s.fact("bite", "a red apple|a hard cookie|a big carrot|a piece of bread")
    s.fact("coin", "a shiny coin|a silver coin|a tiny book|a new ribbon|a little bell")
    return """{intro} {hero} had a loose tooth. It went (this way and that way|back and forth).
    "(Does it hurt when it comes out|What if it hurts)?" {he} asked. "(Only a little|Not at all),"
    said {his} {parent}. But {hero} was {afraid}. {He} did not want to (eat anything hard|bite into
    anything).

    {day}, {hero} was so hungry that {he} forgot about the tooth. {He} took {bite} and bit into it.
    (Crack!|Crunch!) There was something small and white in {his} {hand}. It was the tooth! "(It did
    not hurt|I did not feel it)!" {hero} shouted, and {he} {laughed}.

    That night, {hero} put the tooth under {his} pillow. In the morning, it was gone, and there was
    {coin}. [{He} showed it to everyone.] {lesson} (waiting for a thing can be worse than the
    thing|many things are not as bad as you think)."""


@plot
def bedtime(s):
    s.hero()
    s.fact("count", "sheep|stars|clouds|fish|leaves")
    s.fact("dream", """flew over the hills like a bird|sailed across the sea in a paper boat|danced with the stars|
        found a garden made of cake|rode on the back of a kind dragon""")
    return """{intro} One night, {hero} could not sleep. {He} (turned to the left and to the
    right|lay with open eyes). "I am not tired," {he} said. "(Count the {count}|Close your eyes and
    think of {count})," said {his} {parent}. So {hero} counted. One, two, three, four. But at ten,
    {he} (sat up again|was still awake).

    "(I am thirsty|It is too quiet|It is too dark)," said {hero}. {His} {parent} (sighed|smiled) and
    sat down on the bed. [{Hep} brought {him} some water.] "Then I will tell you a story," {hep}
    said. "Once upon a time, there was a {small} {kid} who could not sleep." "That is me!" said
    {hero}. "Yes," said {his} {parent}. "And do you know what happened in the end?"

    But {hero} did not answer. {He} was fast asleep, and {he} dreamed that {he} {dream}."""


@plot
def echo(s):
    s.hero()
    s.fact("greeting", "Hello|Good morning|Hello there")
    s.fact("angry", "Do not make fun of me|Stop that|Go away")
    return """{opening} {day}, {hero} went {way1} and came to a place between two high hills.
    "{greeting}!" {he} called. "{greeting}!" called a voice. {hero} (looked around|was surprised).
    "Who are you?" {he} called. "Who are you?" called the voice. "{angry}!" shouted {hero}.
    "{angry}!" shouted the voice.

    {hero} went home and was angry. "There is somebody in the hills who is very (rude|mean) to me,"
    {he} said. {His} {parent} (smiled|thought for a moment). "(Try again tomorrow|Go back), and say
    something kind," {hep} said.

    The next day, {hero} went back. "You are my friend!" {he} called. "My friend!" called the voice.
    "(I like you|Have a good day)!" called {hero}. And the voice called it back. {hero} {laughed}.
    {lesson} (what you give is what you get|a kind word comes back to you)."""
