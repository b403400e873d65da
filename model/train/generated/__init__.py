"""Generated examples of what people type first: greetings, names, dates, sums of money, words.

Corpora of sentences have few of these. The examples are phrases and words in the forms that people
type, and frames whose slots are filled at random.
"""
