"""Generated examples of what people type first: greetings, names, dates, sums of money, words.

Corpora of sentences have few of them. What is generated is our own: phrases and words with the
forms that they are typed in, and frames whose slots are filled by chance.
"""
