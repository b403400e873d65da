"""Requests to a model and their results, for any model.

request             one sentence, how it is decoded, and the other sentences that it refers to
model_info          the description of a model
trace               the output of a run, its tensors, and a decoding in progress
adapter_interface   the interface of a model that answers requests
validate            the first invalid field of a request
bind_interventions  the values that interventions take from other runs
"""
