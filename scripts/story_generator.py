#!/usr/bin/env python3
"""Short children's stories from a grammar of our own: the training text of the bundled model.

story(source) returns one story of 60 to 200 words, its paragraphs separated by a newline. A plot
(story_plots.py) settles the facts (who, what, where) and returns a template. The facts stay the
same to the end of the story; the wording differs from story to story. In a template

    (a|b|c)    is one of the alternatives; they nest, and may be empty,
    [a]        is told or left out: some stories have more detail than others,
    {name}     is a fact or a phrase, {Name} the same with a capital letter.

The article "a" becomes "an" by itself where it has to.

Pronouns are facts too: {he} {him} {his} {himself} stand for the hero, and with a suffix for the
others: {he2} the friend, {hep} the parent, {heh} whoever else the plot brings in.

Run as a program, it prints stories: scripts/story_generator.py [seed] [count]
"""
import functools
import random
import re
import sys

import story_plots_friends  # noqa: F401  (adds its plots to the list)
from story_plots import PLOTS

PRONOUNS = {"girl": ("she", "her", "her", "herself"), "boy": ("he", "him", "his", "himself")}
CHILDREN = {"girl": "Mia Ella Nora Ruby Anna Lucy Rosa Ivy Maya Zoe Clara Ada June Emma Sara Lina".split(),
            "boy": "Leo Max Sam Ben Tom Finn Noah Oscar Jack Theo Hugo Milo Adam Owen Eli Peter".split()}
ANIMALS = {"girl": "Clover Pepper Hazel Ginger Maple Poppy Bella Daisy Penny Willow Honey Olive".split(),
           "boy": "Pip Rusty Button Bramble Biscuit Toby Benny Tuft Oliver Barney Moss Felix".split()}

# Species: what it lives in and where, what it has for hands, what it likes best to eat.
SPECIES = {
    "rabbit": ("burrow", "(under an old oak|on a green hill)", "paws", "sweet carrots"),
    "fox": ("den", "(at the edge of the forest|under a big rock)", "paws", "wild berries"),
    "bear": ("cave", "(in the mountains|behind a waterfall)", "paws", "golden honey"),
    "mouse": ("hole", "(under a stone wall|behind the mill)", "paws", "yellow cheese"),
    "squirrel": ("hollow", "(in a tall tree|in an old pine tree)", "paws", "brown nuts"),
    "hedgehog": ("burrow", "(under a bush|in the garden)", "paws", "red apples"),
    "duck": ("hut", "(by the pond|near a quiet lake)", "wings", "fresh bread"),
    "turtle": ("hole", "(by the river|near a quiet lake)", "feet", "green leaves"),
    "frog": ("hut", "(in the meadow|by the pond)", "feet", "sweet plums"),
    "otter": ("den", "(by the river|under the wooden bridge)", "paws", "silver fish"),
    "badger": ("burrow", "(in the forest|under the roots of a tree)", "paws", "sweet roots"),
    "kitten": ("barn", "(on a small farm|behind a yellow house)", "paws", "fresh milk"),
    "puppy": ("barn", "(on a small farm|near the village)", "paws", "crunchy bones"),
}

SPOTS = ["under the bed", "behind the door", "in the garden", "in the kitchen", "under the table",
         "behind the big chair", "by the pond", "in the old shed", "under the apple tree",
         "on the stairs", "in the tall grass", "next to the well"]
WAYS = ["over the (green |)hill", "along the river", "past the old mill", "through the tall grass",
        "across the (little|wooden) bridge", "down the (long|dusty|narrow) road", "around the pond",
        "through the (quiet |)woods", "past the {color} barn", "between the tall trees"]
TRAITS = ["kind", "curious", "cheerful", "brave", "quiet", "clever", "gentle", "friendly", "playful"]

# The weather of a story: how the day is called, and a sentence about it.
WEATHER = {
    "sunny": ("(sunny|warm|bright)", """|The sun was shining.|The sky was blue and the birds were singing.|
        It was warm, and bees hummed in the flowers.|The sun was high and the sky was clear."""),
    "windy": ("windy", """|The wind was blowing through the trees.|Leaves were dancing in the wind.|
        The wind was strong and the clouds moved fast."""),
    "cloudy": ("(cloudy|gray)", "|Gray clouds hung in the sky.|The sky was gray, and it was very quiet."),
}

PHRASES = {
    "opening_child": """(
        Once upon a time, there (was|lived) a {small} {kid} named {hero}. {about}|
        Once upon a time, there (was|lived) a {small} {kid} named {hero} who loved to {hobby}.|
        Once upon a time, {in_place}, there lived a {kid} named {hero}. {about}|
        Once upon a time, a {small} {kid} named {hero} lived {in_place} with {his} {family}.|
        Once upon a time, there was a {kid} named {hero}, and {he} lived {in_place}.|
        There was once a {kid} named {hero}. {about}|
        Long ago, {in_place}, there lived a {small} {kid} named {hero}. {about}|
        {hero} was a {trait} {kid} who lived {in_place}. {about}|
        {hero} was {age} years old and lived {in_place}.|
        {hero} was a {small} {kid} who loved to {hobby}.|
        A {trait} {kid} named {hero} lived {in_place}. {about}|
        This is the story of a {kid} named {hero}. {about}|
        {hero} lived {in_place} with {his} {family}. {about})""",
    "opening_animal": """(
        Once upon a time, there (was|lived) a {small} {kid} named {hero}. {about}|
        Once upon a time, a {small} {kid} named {hero} lived in a {home}. {about}|
        Once upon a time, in a {home}, there lived a {kid} named {hero}. {about}|
        Once upon a time, there was a {trait} {kid}. {His} name was {hero}. {about}|
        There was once a {trait} {kid} named {hero}. {about}|
        Long ago, a {small} {kid} named {hero} lived in a {home}.|
        {hero} was a {trait} {kid} who lived in a {home}. {about}|
        {hero} the {kid} lived in a {home}. {about}|
        This is the story of a {kid} named {hero}. {about}|
        In a {home}, there lived a {small} {kid} named {hero}. {about})""",
    "about_child": """(|{He} was {age} years old.|{He} loved to {hobby}.|{He} loved to {hobby} and to
        {hobby2}.|{He} had {hair} and a (big|warm) smile.|{He} was {trait2} and {trait3}.|
        (Everyone (in the village|on the street) knew {him}|{He} had many friends).|
        {He} (always|often) wore a {color} (hat|coat|scarf).)""",
    "about_animal": """(|{He} loved {treat} more than anything else.|{He} was {trait2} and {trait3}.|
        {He} had soft {fur} fur and (bright|big) eyes.|{He} loved to {hobby}.|{He} loved to {hobby} and to
        {hobby2}.|{He} had many friends.)""",
    # Where the plot names the hero again, the introduction may be left out.
    "intro": "({opening}|{opening}|{opening}|{opening}|{opening}|{opening}|{short_opening})",
    "small": "(little|small|young)",
    "color": "(red|blue|green|yellow|white|purple|orange)",
    "family": "(mom and dad|{parent}|family|big family)",
    "lesson": """({hero} learned that|That day, {hero} learned that|From then on, {hero} knew that|
        {hero} never forgot that|And so {hero} learned that|After that, {hero} always remembered that|
        Now {hero} knew that)""",
    "happily": """(||They were (good |best |)friends (from that day on|ever after).|
        And they all lived happily ever after.|And that made everyone (happy|smile).)""",
    "day": "(One day|One {weather} {daytime}|One {daytime}|On a {weather} {daytime})",
    "glad": "(happy|glad|pleased|full of joy)",
    "sad": "(sad|very sad|so sad|unhappy)",
    "afraid": "(afraid|scared|frightened)",
    "laughed": """(smiled|laughed|smiled a big smile|clapped {his} {hands}|jumped for joy|danced around|
        could not stop smiling)""",
    "thanked": """("Thank you," said {hero}. "Thank you so much!"|"Thank you!" said {hero}.|
        {hero} said thank you (again and again|with a big smile).)""",
    "never_mind": "(Do not worry|Do not be sad|Do not cry|It is all right|Never mind)",
    "later": "(Some days later|A week later|Not long after that|A few days later)",
    "far": "(for a long time|all morning|until their legs were tired|for an hour)",
}


@functools.lru_cache(maxsize=None)
def parse(text):
    """The template as a tuple of strings, ("slot", name), ("choice", templates), ("maybe", [template])."""
    parts, plain, at = [], "", 0
    while at < len(text):
        if text[at] == "{":
            end = text.index("}", at)
            parts += [plain, ("slot", text[at + 1:end])]
            plain, at = "", end + 1
        elif text[at] in "([":
            depth, start, branches, end = 0, at + 1, [], at
            while True:
                depth += (text[end] in "([") - (text[end] in ")]")
                if depth == 0 or (depth == 1 and text[end] == "|"):
                    branches.append(parse(text[start:end]))
                    start = end + 1
                if depth == 0:
                    break
                end += 1
            parts += [plain, ("choice" if text[at] == "(" else "maybe", branches)]
            plain, at = "", end + 1
        else:
            plain, at = plain + text[at], at + 1
    return tuple(part for part in parts + [plain] if part)


def capital(text):
    return text[:1].upper() + text[1:]


def tidy(text):
    """Removes the spaces that empty alternatives leave, and writes the article "an" where it belongs."""
    text = re.sub(r" ([.,!?])", r"\1", " ".join(text.split()))
    text = re.sub(r'([.,!?]) "(?= |$)', r'\1"', text)
    return re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)


class Story:
    """The facts of one story, and the choices made while it is told."""

    spots = SPOTS

    def __init__(self, source):
        self.random = source
        self.facts = {}
        self.detail = source.uniform(0.1, 0.9)
        weather, line = WEATHER[source.choice(["sunny", "sunny", "sunny", "windy", "cloudy"])]
        self.fact("weather", weather)
        self.fact("weather_line", line)
        self.fact("daytime", "morning|afternoon|day")
        self.several("way", WAYS, 2)

    def expand(self, parts):
        said = ""
        for part in parts:
            if isinstance(part, str):
                said += part
            elif part[0] == "choice":
                said += self.expand(self.random.choice(part[1]))
            elif part[0] == "maybe":
                said += self.expand(part[1][0]) if self.random.random() < self.detail else ""
            else:
                said += self.slot(part[1])
        return said

    def slot(self, name):
        key = name[0].lower() + name[1:]
        said = self.facts[key] if key in self.facts else self.expand(parse(PHRASES[key]))
        return capital(said) if name[0].isupper() else said

    def fact(self, name, choices):
        """Settles a fact: one of the alternatives, the same for the rest of the story."""
        self.facts[name] = tidy(self.expand(parse("(" + choices + ")")))

    def several(self, name, choices, count):
        """Settles name1, name2 ... to different members of a list."""
        for index, choice in enumerate(self.random.sample(choices, count)):
            self.fact(f"{name}{index + 1}", choice)

    def together(self, names, rows):
        """Settles facts that belong together: one row, one fact for each of the names."""
        for name, choices in zip(names.split(), self.random.choice(rows)):
            self.fact(name, choices)

    def last_word(self, name, of):
        self.facts[name] = self.facts[of].split()[-1]

    def pronouns(self, suffix, gender):
        for case, word in zip(("he", "him", "his", "himself"), PRONOUNS[gender]):
            self.facts[case + suffix] = word

    def hero(self, animals=0.5, species=None, place=None):
        """Settles the hero, an animal with the given probability, and the hero's parent."""
        gender = self.random.choice(("girl", "boy"))
        self.pronouns("", gender)
        self.animal = self.random.random() < animals
        self.several("trait", TRAITS, 3)
        self.facts["trait"] = self.facts["trait1"]
        if self.animal:
            self.species = self.random.choice(species or list(SPECIES))
            den, where, hands, treat = SPECIES[self.species]
            self.facts.update(kid=self.species, den=den, hands=hands, treat=treat)
            self.facts["hand"] = {"feet": "foot"}.get(hands, hands[:-1])
            self.facts["hero"] = self.random.choice(ANIMALS[gender])
            self.fact("home", den + " " + where)
            self.fact("fur", "brown|gray|white|golden")
            self.several("hobby", ["run in the meadow", "sing in the morning", "sleep in the sun", "dance",
                                   "look for shiny stones", "listen to old stories", "splash in the water",
                                   "play in the leaves", "watch the clouds"], 2)
            self.parent("mother|father|grandmother|grandfather")
        else:
            self.facts.update(kid=gender, den="house", hands="hands", hand="hand")
            self.facts["hero"] = self.random.choice(CHILDREN[gender])
            self.fact("age", "five|six|seven|eight|nine")
            self.fact("hair", "(long|short|curly) (brown|black|red|yellow) hair")
            self.several("hobby", ["paint", "sing", "dance", "climb trees", "read books", "look at the stars",
                                   "bake cookies", "run in the fields", "collect stones", "draw pictures",
                                   "help in the garden", "listen to stories", "play the drum"], 2)
            self.fact("in_place", place or """in a (small|quiet|little) village (by the sea|near the forest|
                in the mountains|)|in a (small|little|white|yellow) house (by the river|on a hill|near the
                woods|by the sea)|on a (small |)farm|in a big town|near the harbor""")
            self.parent("mom|dad|grandma|grandpa")
        self.facts["hobby"] = self.facts["hobby1"]
        kind = "animal" if self.animal else "child"
        self.fact("about", PHRASES["about_" + kind])
        self.fact("opening", PHRASES["opening_" + kind])
        self.facts["short_opening"] = self.facts["opening"] if self.animal else ""

    def parent(self, choices):
        self.fact("parent", choices)
        women = ("mom", "grandma", "mother", "grandmother")
        self.pronouns("p", "girl" if self.facts["parent"] in women else "boy")

    def friend(self):
        """Settles a friend of the hero's kind: {friend_who} at the first mention, {friend} afterwards."""
        gender = self.random.choice(("girl", "boy"))
        self.pronouns("2", gender)
        names = ANIMALS if self.animal else CHILDREN
        self.facts["friend"] = self.random.choice([name for name in names[gender] if name != self.facts["hero"]])
        if self.animal:
            self.facts["kid2"] = self.random.choice([kind for kind in SPECIES if kind != self.species])
            self.fact("friend_who", "{his} (good |best |)friend {friend} the {kid2}")
        else:
            self.facts["kid2"] = gender
            self.fact("friend_who", "{his} (good |best |)friend {friend}|{his} (cousin|neighbor) {friend}")

    def helper(self):
        """Settles someone the hero knows: {helper_who} at the first mention, {helper} afterwards."""
        if self.random.random() < 0.5:
            self.fact("helper", "{his} {parent}")
            self.facts["helper_who"], suffix = self.facts["helper"], "p"
        else:
            self.friend()
            self.facts["helper"], self.facts["helper_who"] = self.facts["friend"], self.facts["friend_who"]
            suffix = "2"
        for case in ("he", "him", "his"):
            self.facts[case + "h"] = self.facts[case + suffix]

    def stranger(self, choices):
        """Settles someone new: a {stranger} at the first mention, the {other} afterwards."""
        self.pronouns("h", self.random.choice(("girl", "boy")))
        while True:
            self.fact("stranger", choices)
            self.last_word("other", "stranger")
            if not self.animal or self.facts["other"] != self.species:
                break


def tell(plot, source):
    telling = Story(source)
    template = plot(telling)
    paragraphs = [tidy(telling.expand(parse(" ".join(text.split())))) for text in template.split("\n\n")]
    if source.random() < 0.15:
        paragraphs.append("The end.")
    return "\n".join(paragraphs)


def story(source):
    """One story, drawn with a random.Random."""
    plot = source.choice(PLOTS)
    while True:
        text = tell(plot, source)
        if 60 <= len(text.split()) <= 200:
            return text


if __name__ == "__main__":
    source = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else None)
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 3):
        print(story(source), end="\n\n")
