/** Schemas of the API's requests and replies. Written by `make types`; do not edit. */
export interface components {
  schemas: {
    /** @description The author's texts for the readers of a share: plain text. */
    About: {
      title?: string | null;
      note?: string | null;
      question?: string | null;
      /** @description Answer to the question; the page shows it on request. */
      answer?: string | null;
      /** @description Who sends it, as its readers know them; never checked. */
      sender?: string | null;
      /** @description A kind of prediction that the page asks for, about the state's place, before it shows the figure. */
      predict?: ("looks" | "head" | "next" | "off" | "row") | null;
    };
    /** @description A vector to add to every row: its numbers, or the difference of two rows of other runs. */
    Add: {
      add: number[] | components["schemas"]["Difference"];
    };
    /** @description A token whose logit rises. */
    AddedReply: {
      token: string;
      /** @description By how much, relative to the mean of all tokens. */
      logit: number;
    };
    /** @description A token that a written one is contrasted with. */
    AgainstReply: {
      text: string;
      special: boolean;
      id: number;
    };
    /** @description The cross-attention head closest to human word alignment, for one kind of rows. */
    Aligner: {
      layer: number;
      head: number;
      /** @description AER on pairs that were not used to choose it, 0 to 1. */
      error_rate: number;
      /**
       * @description Rows that write a word, or the next ones, which read it.
       * @enum {string}
       */
      rows: "writes" | "reads";
    };
    /** @description A cross-attention head, and which of its rows belong to a written word. */
    AlignerRows: {
      layer: number;
      head: number;
      /**
       * @description Rows that write a word, or the next ones, which read it.
       * @enum {string}
       */
      rows: "writes" | "reads";
    };
    /** @description An answer; its `id` is that of a member within this question only. */
    AnswerReply: {
      id: string;
      vote: string;
      answer: string[];
      /** @description Of a work: whether it reaches its goal. */
      does?: boolean | null;
      nickname?: string | null;
      at: number;
    };
    /** @description A student's answer. */
    AnswerRequest: {
      /** @description The student's random token. */
      member: string;
      /**
       * Format: int32
       * @description Number of the question.
       */
      n: number;
      /** @description Ids of choices, or one text per field. */
      answer: string[];
      /** @description Only if the question asks for it. */
      nickname?: string | null;
    };
    /** @description How many have answered, without what. */
    AnsweredReply: {
      /** @description Answers in the present vote. */
      answered: number;
    };
    /** @description The answers to the present question. */
    AnswersReply: {
      n: number;
      /** @description The right answer, if the question states it. */
      truth?: components["schemas"]["Truth"] | null;
      answers: components["schemas"]["AnswerReply"][];
    };
    /** @description The sum of all answers. */
    AnswersSummary: {
      /** @description Students that have sent answers. */
      members: number;
      /** @description One per question. */
      results: components["schemas"]["Results"][];
    };
    /** @description The gains of an arm beside those of the first one. */
    ArmComparison: {
      name: string;
      /** @description Of the mean gains; positive: more than there. */
      difference: number | null;
      effect: components["schemas"]["EffectSize"] | null;
    };
    /** @description The results of one arm. */
    ArmResults: {
      name: string;
      pages: components["schemas"]["StudyPage"][];
      /** @description Participants who began. */
      assigned: number;
      /** @description Participants who took the first test. */
      before: number;
      /** @description Median time between the first two tests. */
      minutes: number | null;
      learned: components["schemas"]["ScoreChange"];
      /** @description From the first test to the third one. */
      kept: components["schemas"]["ScoreChange"];
      items: components["schemas"]["ItemChange"][];
      misunderstandings: components["schemas"]["MisunderstandingChange"][];
    };
    /** @description What a question is about, in the words of the page's predictions. */
    Asked: {
      kind: string;
      /** @description A query string. */
      link: string;
      /**
       * @default workspace
       * @enum {string}
       */
      page?: "workspace" | "lab";
      share?: string | null;
      step?: string | null;
      row?: number | null;
      column?: number | null;
      /** @description The right number, if no model computes it; sent to nobody until revealed. */
      value?: number | null;
      within?: number | null;
      /** @description The choices, or what is to be ordered. */
      options?: components["schemas"]["Option"][] | null;
      /** @description Numbers of the right options from 0, or their right order; absent: none is. Sent to nobody until revealed. */
      right?: number[] | null;
      /** @description Of the figure of `link`, in which a cell is to be chosen. */
      axes?: components["schemas"]["Axes"] | null;
      /** @description The right cells, each as its row and column from 0, such as `3 0`; absent: none is. Sent to nobody until revealed. */
      cells?: string[] | null;
      /** @description The question in the other language, if its author wrote it. */
      translations?: {
        [key: string]: components["schemas"]["Translation"];
      } | null;
      /** @description What a work is to reach, checked on a run of the model. */
      goal?: components["schemas"]["Goal"] | null;
      /** @description The question of the presented lesson that this is: the page of a student who reads the lesson in another language words it. */
      scene?: string | null;
      /**
       * @description The question as its author wrote it; absent: the page words it.
       * @default
       */
      words?: string;
    };
    /** @description A question of a test, in the reader's language. */
    AskedItem: {
      asks: string;
      options: string[];
    };
    /** @description A question, and the model's answer to it, which students do not get from the server. */
    AssignedQuestion: {
      /**
       * @description How it is answered.
       * @enum {string}
       */
      entry: "choice" | "numbers" | "shares" | "text" | "order" | "cell" | "work";
      ask: components["schemas"]["Asked"];
      /** @description The model's answer, to compare with. */
      truth?: components["schemas"]["Truth"] | null;
    };
    /** @description The assignment is stored. */
    AssignmentCreated: {
      id: string;
      /** @description For the students. */
      url: string;
      /** @description Reads the answers and deletes the assignment. */
      key: string;
      /** @description For the author; it contains the key. */
      owner_url: string;
      /** @description ISO 8601, UTC: deleted then, if nobody answers before. */
      expires: string;
    };
    /** @description Everything: the questions with what is right, the sums, and every answer. */
    AssignmentRecord: {
      id: string;
      title: string;
      note: string;
      /** @description ISO 8601, UTC. */
      created: string;
      /** @description ISO 8601, UTC. */
      saved: string;
      questions: components["schemas"]["AssignedQuestion"][];
      /** @description One per question. */
      results: components["schemas"]["Results"][];
      students: components["schemas"]["StudentAnswers"][];
    };
    /** @description An assignment as students get it. */
    AssignmentReply: {
      title: string;
      note: string;
      questions: components["schemas"]["OpenQuestion"][];
      /** @enum {string} */
      reveal: "each" | "end";
      nicknames: boolean;
      id: string;
      url: string;
      /** @description ISO 8601, UTC. */
      created: string;
    };
    /** @description Questions in the order in which they are asked. */
    AssignmentRequest: {
      title: string;
      /**
       * @description To the students.
       * @default
       */
      note?: string;
      questions: components["schemas"]["AssignedQuestion"][];
      /**
       * @description When students see the model's answers.
       * @default end
       * @enum {string}
       */
      reveal?: "each" | "end";
      /**
       * @description Whether students give a nickname.
       * @default false
       */
      nicknames?: boolean;
    };
    /** @description One attention of one layer; its tensors are ``f"{place}.weights"`` and the like. */
    AttentionInfo: {
      /** @description Such as "encoder.0.self". */
      place: string;
      /** @description Such as "encoder": attentions of one stack and kind form a column of layers. */
      stack: string;
      /** @description Index within the stack, from 0. */
      layer: number;
      /** @enum {string} */
      kind: "self" | "cross";
      /** @description The text of the queries: "source", "target", or the only "text". */
      query: string;
      /** @description The text of the keys. */
      key: string;
      heads: number;
      /** @description Heads of keys and values; fewer if several query heads share one. */
      kv_heads: number;
      /** @description Rules combined with &: "padding", "causal", "causal & window-3". */
      mask: string;
      /** @description Such as "scaled-dot" or "dot"; with positions in the scores, "scaled-dot & relative". */
      scoring: string;
      /**
       * @description Whether q, k and v are recorded; if not, only the weights are.
       * @default true
       */
      qk?: boolean;
      /**
       * @description How q, k and v are computed: "linear" (x W + b), "latent" (DeepSeek: through a compressed
       * vector), or "unknown".
       * @default linear
       */
      projection?: string;
      /**
       * @description Short names of its parameters, such as "W_q", in a model whose layers may differ in them.
       * @default []
       */
      parameters?: string[];
    };
    /** @description The tokens along a matrix in which a cell is to be chosen. */
    Axes: {
      rows: string[];
      columns: string[];
    };
    /** @description A hypothesis extended by one token. */
    BeamReply: {
      /** @description Index into `hypotheses`. */
      parent: number;
      token: components["schemas"]["ChosenReply"];
      /** @description Sum over its tokens, including this one. */
      logprob: number;
      score: number;
      /** @enum {string} */
      state: "live" | "finished" | "pruned";
      /** @description The token's rank among all that can be written, from 1. */
      rank: number;
      /** @description Number of tokens it was sampled from (`sample`). */
      pool: number | null;
      /** @description Its probability among these. */
      drawn: number | null;
    };
    /** @description The model and the examples are ready. */
    BegunReply: {
      step: number;
      examples: number;
      probes: components["schemas"]["ProbeReply"][];
      model: components["schemas"]["ModelReply"];
    };
    /** @description A candidate for the next token. */
    CandidateReply: {
      id: number;
      text: string;
      /** @description The model's own log-probability, in nats. */
      logprob: number;
      probability: number;
      /** @description Whether a beam continued or ended with it. */
      kept: boolean;
    };
    /** @description A picture; a cell is null if the mask hides all of it. */
    CellsReply: {
      dims: string[];
      over: {
        [key: string]: string;
      };
      shape: number[];
      dtype: ("float32" | "float16" | "uint8") | ("int32" | "bool");
      /** @description Nested lists; null where a number is not finite. */
      data: unknown[];
      span?: components["schemas"]["Span"] | null;
    };
    /** @description When the model is unsure, measured on dev sets by `python -m model measure certainty`. */
    Certainty: {
      /**
       * @description A written word is doubtful if its probability, the lowest of its pieces, times the mean
       * probability of the text's tokens (geometric) is at most this.
       */
      word: number;
      /** @description Share of the doubtful words that are wrong. */
      precision: number;
      /** @description Share of the wrong words that are doubtful. */
      recall: number;
      /** @description A text is improbable if the mean probability of its tokens (geometric) is at most this. */
      text: number;
      /** @description Divides the logits so that probabilities of the next token are calibrated. */
      temperature: number;
      /**
       * @description A source word is passed over if no written token looks at it this much, by `aligner`; null:
       * it is not known which words were not translated.
       */
      source: number | null;
      /**
       * @description Words of a source, in lower case, that often need no translation.
       * @default []
       */
      passed_over?: string[];
      /**
       * @description The head whose weights say at which source words it looked; null: the one that aligns best
       * among those whose rows write.
       */
      aligner?: components["schemas"]["AlignerRows"] | null;
      /** @description Share of the words that are passed over that are not translated. */
      untranslated?: number | null;
      /**
       * @description A text is unlike what the model was trained on if more than this share of the places within
       * its words is cut by the tokenizer, by direction.
       */
      unlike?: {
        [key: string]: number;
      };
    };
    /** @description The effect of one change, with one number per row. */
    ChangeReply: {
      /** @description The attention; for a patch, the tensor. */
      at: string;
      head: number | null;
      /** @description The row that is patched, if only one is. */
      token?: number | null;
      /** @description Of a pair: the second head. */
      also?: components["schemas"]["HeadReply"] | null;
      /** @description Of a pair: `delta` minus the sum of both alone; below 0: redundant heads. */
      interaction?: number[] | null;
      /** @description Change of that token's log-probability, in nats. */
      delta: number[];
      /** @description KL divergence of the next-token distribution from the original, in nats. */
      divergence: number[];
      /** @description Change of the contrast, in nats. */
      contrast: number[];
      /** @description For a patch: that change as a share of the difference between both runs; null if the runs hardly differ (by less than 0.01 nats), or the row has no counterpart. */
      recovered?: ((number | null)[]) | null;
    };
    /** @description A work as it can be sent, and whether it reaches the goal. */
    CheckReply: {
      /** @description What was run: what may not be chosen is that of the question. */
      link: string;
      verdict: components["schemas"]["Verdict"];
      /** @description Proves the verdict where the work is sent as an answer. */
      seal: string;
    };
    /** @description A work for the goal of a question. */
    CheckRequest: {
      /**
       * Format: int32
       * @description Its number, from 0.
       */
      question: number;
      /** @description Of the workspace. */
      link: string;
    };
    /** @description A token that a hypothesis continues with. */
    ChosenReply: {
      text: string;
      special: boolean;
      id: number;
    };
    /** @description Who is in the room, as numbers. */
    ClassReply: {
      seq: number;
      /** @description Members that have ever joined. */
      joined: number;
      /** @description Members that are present and follow. */
      following: number;
      /** @description Of those who follow: they were sent the newest state. Other servers' members are counted some seconds later. */
      in_step: number;
      /** @description Members that are present and explore on their own. */
      exploring: number;
      /** @description Answers in the present vote. */
      answered: number;
    };
    /** @description The collection is stored. */
    CollectionCreated: {
      id: string;
      url: string;
      /** @description Opens the collection for editing; it contains the key. */
      edit_url: string;
      /** @description Changes and deletes the collection. */
      edit_key: string;
      /** @description ISO 8601, UTC: deleted then, unless it is changed before; null: kept. */
      expires: string | null;
    };
    /** @description A link of this server, or the name of what it shows; with a title and a note of its own. */
    CollectionItem: {
      link?: string | null;
      /** @description Instead of a link: the id of a share. */
      share?: string | null;
      /** @description Instead of a link: a lesson's name. */
      lesson?: string | null;
      /** @description The number of the lesson's figure, from 1. */
      figure?: number | null;
      /**
       * @description Absent: that of what the link shows.
       * @default
       */
      title?: string;
      /** @default */
      note?: string;
      /** @description For its owner and speaker; sent to no reader. Absent in a change: as it was of the item with this link; null or empty: none. */
      private?: string | null;
      /** @description Absent in a change: as it was of the item with this link; null or empty: none. */
      minutes?: number | null;
      /** @description Absent in a change: as it was of the item with this link; null or empty: none. */
      questions?: components["schemas"]["PreparedQuestion"][] | null;
    };
    /** @description A collection; its ETag names its version. */
    CollectionReply: {
      title: string;
      note: string;
      items: components["schemas"]["KeptItem"][];
      /** @description What it was copied from. */
      origin?: components["schemas"]["Origin"] | null;
      id: string;
      url: string;
      /** @description 1, then one more with each change. */
      version: number;
      /** @description ISO 8601, UTC. */
      created: string;
      /** @description ISO 8601, UTC. */
      changed: string;
      /**
       * @description The languages for which it is on the shelf.
       * @default []
       */
      listed?: ("en" | "zh")[];
    };
    /** @description A title, a note to the reader, and what the collection shows, in order. */
    CollectionRequest: {
      title: string;
      /** @default */
      note?: string;
      /** @default [] */
      items?: components["schemas"]["CollectionItem"][];
    };
    /** @description A divisor of the scores before the softmax: below 1 sharper, above 1 flatter. */
    Cool: {
      temperature: number;
    };
    /** @description A text that was added to the queue. */
    CorpusCreated: {
      id: string;
      model: string;
      title: string;
      /** @description Sentences that were sent. */
      given: number;
      /** @enum {string} */
      state: "queued" | "running" | "done" | "failed";
      /** @description Sentences indexed so far, in all directions. */
      done: number;
      /** @description Sentences to index, in all directions; 0: not known yet. */
      of: number;
      /** @description Why it failed: `unreadable` (the model can read none of the sentences), `too-slow`, `stopped` (the server was), `crashed`, or `storage-full` and `storage-unavailable` (its index could not be written). */
      why: string | null;
      created: string;
      /** @description When it is deleted. */
      expires: string;
      /** @description The page with its heads. Anyone with the link can open it. */
      url: string;
      /** @description Deletes the text: `Corpus-Key` of `DELETE /api/corpora/{id}`. */
      key: string;
    };
    /** @description A text, and how far it is indexed. */
    CorpusReply: {
      id: string;
      model: string;
      title: string;
      /** @description Sentences that were sent. */
      given: number;
      /** @enum {string} */
      state: "queued" | "running" | "done" | "failed";
      /** @description Sentences indexed so far, in all directions. */
      done: number;
      /** @description Sentences to index, in all directions; 0: not known yet. */
      of: number;
      /** @description Why it failed: `unreadable` (the model can read none of the sentences), `too-slow`, `stopped` (the server was), `crashed`, or `storage-full` and `storage-unavailable` (its index could not be written). */
      why: string | null;
      created: string;
      /** @description When it is deleted. */
      expires: string;
    };
    /** @description A text to index. */
    CorpusRequest: {
      /** @description An id of `GET /api/models`. */
      model: string;
      /** @description A line is a sentence, or a sentence and its translation with a tab between them: then the translation is read instead of the model's own, in every direction. */
      text: string;
      /**
       * @description `sentences`: lines are split after marks that end a sentence.
       * @default lines
       * @enum {string}
       */
      split?: "lines" | "sentences";
      /**
       * @description What the pages call it.
       * @default
       */
      title?: string;
    };
    /** @description By how much the loss rises without a head, in nats per target token. */
    CostReply: {
      /** @description With its output replaced by zeros. */
      zero: number | null;
      /** @description With its output replaced by its mean. */
      mean: number | null;
    };
    /** @description Edges to remove: the query does not see the key. */
    Cut: {
      /** @description Query, key; or several such pairs. */
      cut: [number, number] | [number, number][];
    };
    /** @description The final output, as in a trace, without `ranks`. */
    DecodeEnd: {
      output: components["schemas"]["OutputReply"];
    };
    /** @description A line of the stream: `start`, then steps, then `end`; or `error`, which is the last. */
    DecodeLine: {
      start?: components["schemas"]["DecodeStart"] | null;
      step?: components["schemas"]["DecodeStep"] | null;
      end?: components["schemas"]["DecodeEnd"] | null;
      error?: components["schemas"]["ProblemReply"] | null;
    };
    /** @description How to write a target if none is given. */
    DecodeOptions: {
      /**
       * @default greedy
       * @enum {string}
       */
      method?: "greedy" | "beam" | "sample";
      /**
       * @description Number of hypotheses kept (for `beam`).
       * @default 4
       */
      beam?: number;
      /**
       * @description α of the length penalty (for `beam`).
       * @default 0.6
       */
      length_penalty?: number;
      /** @description Maximum number of tokens; absent: 50 more than the source, as in the paper. */
      max_tokens?: number | null;
      /**
       * @description Divides the logits: below 1 the text is more predictable, above 1 more varied (for
       * `sample`).
       * @default 1
       */
      temperature?: number;
      /** @description Sample from the k most probable tokens; absent: from all (for `sample`). */
      top_k?: number | null;
      /**
       * @description Sample from the fewest tokens that together have this probability (for `sample`).
       * @default 1
       */
      top_p?: number;
      /**
       * @description Seed of the random numbers; the same seed gives the same text (for `sample`).
       * @default 0
       */
      seed?: number;
      /**
       * @description Ids of the tokens that the text must begin with (for all methods).
       * @default []
       */
      prefix?: number[];
    };
    /** @description A sentence, and how to decode its translation. */
    DecodeRequest: {
      /**
       * Format: int32
       * @description Number of most probable next tokens per hypothesis.
       * @default 10
       */
      candidates?: number;
      /** @description A model's id; absent: the first model. */
      model?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
      /**
       * @description Applied in order.
       * @default []
       */
      interventions?: components["schemas"]["InterventionRequest"][];
      /** @description The sentence, as typed. */
      source: string;
      /** @description Such as `en-zh`; absent: detected from the script. */
      direction?: string | null;
    };
    /** @description The first line of a decoding. */
    DecodeStart: {
      model: string;
      direction?: string | null;
      tokens: components["schemas"]["SourceReply"] | components["schemas"]["OneTextReply"];
      /** @description With all defaults filled in. */
      decode: components["schemas"]["DecodeOptions"];
      /** @description Maximum number of tokens written. */
      max_tokens: number;
    };
    /** @description One step; greedy and sampling have one hypothesis and one beam. */
    DecodeStep: {
      index: number;
      /** @description Whether `decode.prefix` gives the token. */
      forced: boolean;
      /** @description Live hypotheses, best first. */
      hypotheses: components["schemas"]["HypothesisReply"][];
      /** @description Live ones best first, then finished, then pruned. */
      beams: components["schemas"]["BeamReply"][];
    };
    /** @description A vector: the row of one run minus the row of another. */
    Difference: {
      to: components["schemas"]["TokenOfSentence"];
      /** @description Absent: nothing. */
      minus?: components["schemas"]["TokenOfSentence"] | null;
      /** @default 1 */
      times?: number;
    };
    /** @description The edges of the groups. */
    EdgesReply: {
      query: number[];
      key: number[];
    };
    /** @description Cohen's d with its 95 % confidence interval. */
    EffectSize: {
      d: number;
      low: number;
      high: number;
    };
    /** @description A similar head of another model. */
    ElsewhereReply: {
      model: string;
      /** @description Of the model. */
      name: string;
      place: string;
      head: number;
      /** @description Mean difference of the shares of rows with a pattern, 0 (the same) to 1. */
      difference: number;
      described: components["schemas"]["HeldReply"][];
    };
    /** @description One of the sentences, with the attention of every snapshot over the same tokens. */
    ExampleReply: {
      model: string;
      /** @description Digest of the trained model. */
      digest: string;
      snapshots: components["schemas"]["SnapshotReply"][];
      examples: components["schemas"]["WatchedReply"][];
      example: number;
      direction: string;
      tokens: components["schemas"]["TokensReply"];
      output: components["schemas"]["WrittenReply"];
      /** @description Each snapshot's own translation. */
      texts: string[];
      /** @description `{step}.{place}.weights`, uint8 (value · 255), and `{place}.mask`. */
      tensors: {
        [key: string]: components["schemas"]["TensorReply"];
      };
    };
    /** @description An example, as in `GET /api/models/{id}/learning/{example}`. */
    ExampleRequest: {
      /** @description A model's id; absent: the first model. */
      model?: string | null;
      /** Format: int32 */
      example: number;
    };
    /** @description One value for every number, such as of a hidden unit. */
    Fill: {
      fill: number;
    };
    /** @description The snapshot from which a new run starts, and its changed options. */
    ForkRequest: {
      /**
       * Format: int32
       * @description Step of a snapshot.
       */
      step: number;
      /**
       * @description Changed options, as in `POST /api/runs`.
       * @default {}
       */
      options?: {
        [key: string]: unknown;
      };
    };
    /** @description A row that was found: where a token looks most. */
    FoundRow: {
      sentence: components["schemas"]["IndexedSentence"];
      query: components["schemas"]["FoundToken"];
      key: components["schemas"]["FoundToken"];
      /** @description The row's largest weight, to 1/255. */
      weight: number;
    };
    /** @description Rows of a head, one per sentence, largest weight first. */
    FoundRowsReply: {
      /** @description Number of all rows that match. */
      rows: number;
      /** @description Number of sentences with such a row. */
      sentences: number;
      /** @description Number of all sentences. */
      of: number;
      found: components["schemas"]["FoundRow"][];
    };
    /** @description A token of a row that was found. */
    FoundToken: {
      /** @description Among the tokens of its text, from 0. */
      index: number;
      text: string;
    };
    /** @description The weights of another sentence at the same place. */
    Freeze: {
      freeze: components["schemas"]["OtherSentence"];
    };
    /** @description The works of the present question that the class sees, in no order of their makers. */
    GalleryReply: {
      n: number;
      works: components["schemas"]["GalleryWork"][];
      /** @description The work of the member who reads it; null: none. */
      mine: string | null;
      /** @description The work that this member has voted for. */
      vote: string | null;
    };
    /** @description A work that the class sees; `id` is that of a member within this question only. */
    GalleryWork: {
      id: string;
      link: string;
      /** @description Whether it reaches the goal; null: nothing is checked. */
      does: boolean | null;
      /** @description Once revealed. */
      votes?: number | null;
    };
    /** @description What is to be reached, and what may be chosen for it. */
    Goal: {
      /**
       * @description `weight`: of the head's attention, the word `key` gets at least `least`. `strongest`: the head's largest weight goes to the word `key`. `contains`, `lacks`: what the model writes has all of `words`, or none. `any`: nothing is run.
       * @enum {string}
       */
      kind: "weight" | "strongest" | "contains" | "lacks" | "any";
      key?: string | null;
      /** @description The word in whose rows; absent: in any row. */
      query?: string | null;
      /**
       * @description From 0 to 1.
       * @default 0.5
       */
      least?: number;
      /** @default [] */
      words?: string[];
      /**
       * @description What a member chooses; the rest is that of the question's link.
       * @default [
       *   "sentence"
       * ]
       */
      free?: ("sentence" | "head" | "change")[];
      /**
       * @description Words that the sentence must have.
       * @default []
       */
      uses?: string[];
      /**
       * @description Whether the sentence may differ from the question's in one word only.
       * @default false
       */
      one_word?: boolean;
    };
    /** @description A sentence, and its value in the ranking. */
    HeadExample: {
      sentence: components["schemas"]["IndexedSentence"];
      value: number;
    };
    /** @description Sentences from the top to the bottom of a ranking, one at each tenth. */
    HeadExamplesReply: {
      /** @description `largest`, or the name of a pattern. */
      by: string;
      examples: components["schemas"]["HeadExample"][];
    };
    /** @description A head of an attention. */
    HeadReply: {
      at: string;
      head: number | null;
    };
    /** @description The server is up. */
    Health: {
      /** @constant */
      status: "ok";
      version: string;
      models: string[];
      /** @description Models that should be served and cannot be opened, each with the reason. */
      unopened: {
        [key: string]: string;
      };
      /** @description Requests waiting for a model. */
      waiting: number;
      /** @description Seconds that a model lately took for a sentence of usual length; null until one is measured. */
      sentence_seconds: number | null;
      /** @description Expected wait of such a sentence. */
      wait_seconds: number;
      /**
       * @description The level of service: full; paced, so that pages send less often; refusing requests that would wait too long.
       * @enum {string}
       */
      service: "full" | "paced" | "refusing";
    };
    /** @description A pattern, and how often it holds. */
    HeldReply: {
      pattern: string;
      /** @description Of the rows that count, 0 to 1. */
      share: number;
    };
    /** @description A hypothesis before a step, and the candidates for its next token. */
    HypothesisReply: {
      ids: number[];
      text: string;
      /** @description Sum over its tokens. */
      logprob: number;
      /** @description The sum divided by the length penalty. */
      score: number;
      /** @description The most probable, best first. */
      candidates: components["schemas"]["CandidateReply"][];
      /** @description Total probability of all other tokens. */
      rest: number;
    };
    /** @description A sentence as in a request for a trace. */
    IndexedSentence: {
      source: string;
      direction?: string | null;
      /** @description Absent: the model's own translation. */
      target?: string | null;
    };
    /** @description A change of a value that the model computes, in both decoding and trace. */
    InterventionRequest: {
      /** @description The attention, such as `encoder.1.self`; for `patch`, `scale`, `fill`, `add`, `drop`, `shuffle` and the `zero` of a tensor its full name, such as `decoder.2.cross.mix`, `source.position` or `encoder.1.ffn.output`; for `mask`, `source`. */
      at: string;
      /** @description The head, from 0; all heads if absent. */
      head?: number | null;
      /** @description Several heads, instead of `head`. */
      heads?: number[] | null;
      /** @description The rows that are changed; all of them if absent. */
      rows?: number[] | null;
      /** @description The hidden units or features of the last axis that are changed; all if absent. */
      units?: number[] | null;
      /** @description `zero`: the head adds nothing, or the tensor is zero. `uniform`: equal weights for all visible keys. `mean`: the head adds its mean output over training data. `drop`: no positions are added, or a residual is only the sublayer's output. Otherwise an effect with its arguments. */
      do: ("zero" | "uniform" | "mean" | "drop") | components["schemas"]["SetWeight"] | components["schemas"]["Cut"] | components["schemas"]["Cool"] | components["schemas"]["Freeze"] | components["schemas"]["PatchFrom"] | components["schemas"]["MaskToken"] | components["schemas"]["Shuffle"] | components["schemas"]["Scale"] | components["schemas"]["Fill"] | components["schemas"]["Add"];
    };
    /** @description Shares of right answers to an item of the inventory. */
    ItemChange: {
      /** @description Id in the inventory. */
      item: string;
      number: number;
      /** @description What it asks, in the reader's language. */
      about: string;
      before: number | null;
      after: number | null;
      gain: number | null;
      normalized: number | null;
      /** @description Of those who took the third test. */
      later: number | null;
    };
    /** @description The snapshot to keep as a model. */
    KeepRequest: {
      /** @description Step of a snapshot; absent: the last. */
      step?: number | null;
    };
    /**
     * @description An item of a collection; its link is a path on this server.
     *
     * What only its owner gets is absent otherwise.
     */
    KeptItem: {
      link: string;
      /** @description The owner's title; empty: that of what the link shows. */
      title: string;
      note: string;
      /**
       * @description For its owner and speaker; sent to no reader.
       * @default
       */
      private?: string;
      /** @description Planned; for its owner only. */
      minutes?: number | null;
      /**
       * @description To a class, in order; for its owner only.
       * @default []
       */
      questions?: components["schemas"]["PreparedQuestion"][];
    };
    /** @description A kept model. */
    KeptReply: {
      /** @description As in `GET /api/models`. */
      id: string;
      name: string;
      /** @description Deletes the model (`Model-Key`); returned only here. */
      key: string;
      /** @description The workspace with this model. */
      url: string;
    };
    /** @description Matrices, and the parts to run them through. */
    LabBody: {
      relative?: components["schemas"]["RelativeBody"] | null;
      /** @description One row per token (column convention: one column). */
      x: number[][];
      /** @description Its columns are the heads' channels, head by head; so are those of `w_k` and `w_v`. */
      w_q: number[][];
      w_k: number[][];
      w_v: number[][];
      /** @description Input of the keys and values; if absent, `x` itself. */
      memory?: number[][] | null;
      /** @description If absent, the output is the concatenation of the heads. */
      w_o?: number[][] | null;
      b_q?: number[] | null;
      b_k?: number[] | null;
      b_v?: number[] | null;
      b_o?: number[] | null;
      /** @default 1 */
      heads?: number;
      /**
       * @default scaled
       * @enum {string}
       */
      scoring?: "dot" | "scaled" | "additive";
      /**
       * @description For additive scoring, w · tanh(q + k + b): one number per channel of a head, or per channel
       * of every head, head by head.
       */
      w?: number[] | null;
      /** @description Bias of additive scoring, of the same size as `w`; if absent, none. */
      b?: number[] | null;
      /** @description The paper's table, added to `x` before anything else, and not to `memory`. */
      positions?: "sinusoidal" | null;
      mask?: ("causal" | "window" | "causal-window") | null;
      /** @description Only keys fewer than this many positions away are visible. */
      window?: number | null;
      /** @description For each key, whether it is padding, which is always masked. */
      padding?: boolean[] | null;
      /**
       * @description Add `x` to the output.
       * @default false
       */
      residual?: boolean;
      /** @description Layer norm after the residual (post) or before the attention (pre); both add `x`. */
      norm?: ("post" | "pre") | null;
      /** @description Absent: ones. */
      gamma?: number[] | null;
      /** @description Absent: zeros. */
      beta?: number[] | null;
      /**
       * @description Added to the variance by every layer norm.
       * @default 0.00001
       */
      epsilon?: number;
      /** @description For FFN(x) = max(0, x W_1 + b_1) W_2 + b_2; residual and norm as for the attention. */
      w_1?: number[][] | null;
      b_1?: number[] | null;
      w_2?: number[][] | null;
      b_2?: number[] | null;
      ffn_gamma?: number[] | null;
      ffn_beta?: number[] | null;
      /** @description One column per token of the vocabulary (column convention: one row). */
      w_vocab?: number[][] | null;
      /** @description The id of each token. */
      targets?: number[] | null;
      /**
       * @description Whether each row predicts the next row's target, and the last row none; otherwise each row
       * predicts its own.
       * @default true
       */
      shift?: boolean;
      /** @default 0 */
      label_smoothing?: number;
      /**
       * @default row
       * @enum {string}
       */
      convention?: "row" | "column";
    };
    /** @description Every step by name, in the order of computation. */
    LabReply: {
      /** @description Nested lists of float64 (`mask`: booleans; `loss`: one number). */
      steps: {
        [key: string]: unknown;
      };
      /** @description The axes of each; in the column convention the last two are swapped. */
      dims: {
        [key: string]: string[];
      };
    };
    /** @description Attention by hand: the request, and the link that the page opens with. */
    LabShareState: {
      lab: components["schemas"]["LabBody"];
      /** @description If the words are shuffled in the link: the same request in the original order. Its steps are stored too, as `before.…`. */
      before?: components["schemas"]["LabBody"] | null;
      /** @description The query string of the lab's address. It is not checked. */
      link: string;
      lang?: string | null;
    };
    /** @description A step of attention by hand, like a tensor. */
    LabStepReply: {
      dims: string[];
      over: {
        [key: string]: string;
      };
      shape: number[];
      /** @enum {string} */
      dtype: "float64" | "bool";
      /** @description Nested lists; one number for `loss`. */
      data: unknown;
    };
    /** @description The steps of attention by hand; with shuffled words also the steps `before.…`. */
    LabTraceReply: {
      /** @description `query` and `key`, as named in the link. */
      tokens: {
        [key: string]: string[];
      };
      tensors: {
        [key: string]: components["schemas"]["LabStepReply"];
      };
    };
    /** @description The saved steps of a training run, and the recorded sentences. */
    LearningReply: {
      model: string;
      /** @description Digest of the trained model. */
      digest: string;
      snapshots: components["schemas"]["SnapshotReply"][];
      examples: components["schemas"]["WatchedReply"][];
    };
    /** @description What a link shows, in the reader's language. */
    LinkReply: {
      /** @description The link as a path on this server, in its one form. */
      link: string;
      /** @enum {string} */
      kind: "workspace" | "lab" | "share" | "lesson" | "figure";
      /** @description The sentence, or the title of the lesson or the share. */
      title: string;
      /** @description The claim of the lesson, or the caption of its figure. */
      says: string;
      /**
       * @description Where its figure is drawn.
       * @enum {string}
       */
      page: "workspace" | "lab" | "zoo" | "train" | "lesson";
      /** @description The query string with which that page shows it. */
      query: string;
      /**
       * @description How the lesson shows its figure, such as `about` and `choices`.
       * @default {}
       */
      options?: {
        [key: string]: string;
      };
      /** @description The id of the share that has its numbers; empty: none. */
      share: string;
      /**
       * @description Whether the state in the link (`shows`) is one of the lesson's figure; if not, `query` is the figure as the lesson has it.
       * @default true
       */
      fits?: boolean;
      /** @description Whether its share or lesson no longer exists. */
      gone: boolean;
      /**
       * @description Whether `/api/links/picture` draws it; not a formula or models of the zoo.
       * @default true
       */
      picture?: boolean;
      /**
       * @description What it asks before it shows: of a lesson all questions. That of a share has no `link`: it is about the place on which the share opens.
       * @default []
       */
      questions?: components["schemas"]["Asked"][];
    };
    /** @description A model in the list of those being served. */
    ListedModelReply: {
      id: string;
      name: string;
      /** @enum {string} */
      kind: "encoder-decoder" | "encoder" | "decoder";
      /** @description Every attention, in the order in which they run. */
      attentions: components["schemas"]["AttentionInfo"][];
      d_model: number;
      parameters: number;
      vocabulary: number;
      languages: string[];
      max_tokens: number;
      /** @description Digest of config, tokenizer and weights. */
      digest: string;
      /** @description The model card, in Markdown. */
      card: string;
      /**
       * @description The heads closest to human word alignment, for rows that write a word and rows that
       * read it; the better one, on the pairs used to choose them, comes first.
       * @default []
       */
      aligners?: components["schemas"]["Aligner"][];
      /**
       * @description Heads that training supervised to align; none if empty.
       * @default []
       */
      taught?: components["schemas"]["Taught"][];
      /**
       * @description Number of sentences whose attention was recorded during training: `…/learning`.
       * @default 0
       */
      examples?: number;
      /**
       * @description Positional encoding, such as "rotary"; a key of `POSITIONS`.
       * @default sinusoidal
       */
      positions?: string;
      /**
       * @description Position of the layer norm in a sublayer: "post" or "pre".
       * @default post
       */
      norm?: string;
      /**
       * @description Whether the projections of its attentions have biases.
       * @default true
       */
      bias?: boolean;
      /**
       * @description The feed-forward networks of a model whose attentions list their parameters, as far as their
       * calculation is known; those of any other model are the paper's.
       * @default []
       */
      networks?: components["schemas"]["NetworkInfo"][];
      /** @description The capabilities that it has. */
      capabilities: string[];
      /** @description Why each of the other capabilities is missing, such as "no-head": keys of `REASONS`. */
      missing?: {
        [key: string]: string;
      };
      /**
       * @description Trained directions, such as "en-zh"; empty for a model of one text.
       * @default []
       */
      directions?: string[];
      /**
       * @description Example texts; empty if the model has none of its own.
       * @default []
       */
      prompts?: string[];
      /**
       * @description The mask token of a masked language model, such as "[MASK]"; empty if there is none.
       * @default
       */
      mask?: string;
      /** @description The task of a model of the zoo; null for any other. */
      zoo?: components["schemas"]["ZooEntry"] | null;
      /** @description When the model is unsure; null if it was not measured. */
      certainty?: components["schemas"]["Certainty"] | null;
      /** @description Number of layers per stack. */
      layers: {
        [key: string]: number;
      };
      /** @description Number of heads per attention, by stack. */
      heads: {
        [key: string]: number;
      };
      /** @description The texts that it reads: `source` and `target`, or only `text`. */
      texts: string[];
      /**
       * @description What its heads do over many sentences, by attention and head: patterns, each with the share of rows in which it holds and none before it does. Empty: not measured.
       * @default {}
       */
      in_general?: {
        [key: string]: [string, number][][];
      };
    };
    /** @description For whom a collection is on the shelf. */
    Listing: {
      /** @description The languages of its texts. */
      languages: ("en" | "zh")[];
    };
    /** @description A token of the source to hide from all heads; `at` is `source`. */
    MaskToken: {
      /** Format: int32 */
      mask: number;
    };
    /** @description Scores of a test, from 0 to 1. */
    MeanScore: {
      mean: number | null;
      /** @description Standard deviation. */
      sd: number | null;
    };
    /** @description What a member answered to a question, in both votes; `member` is an id within it only. */
    MemberAnswer: {
      member: string;
      nickname: string | null;
      first: string[] | null;
      /** @description null: nothing to compare with, or no answer. */
      first_right: boolean | null;
      second: string[] | null;
      second_right: boolean | null;
      /** @description Unix time in seconds of the last answer. */
      answered: number;
    };
    /** @description A member, without its name; `id` is in no list of answers. */
    MemberReply: {
      id: string;
      /** @description Members with the same number came from the same address. */
      network: number;
      /** @description Unix time in seconds. */
      joined: number;
      /** @description Whether the member is connected. */
      here: boolean;
      /** @description Whether the member has answered the present question. */
      answered: boolean;
    };
    /** @description The members of a room, the first to come first. */
    MembersReply: {
      /** @description Whether the room is closed to newcomers. */
      closed: boolean;
      /** @description The server's time, Unix time in seconds. */
      at: number;
      /** @description The network of this request; null: of no member. */
      network: number | null;
      members: components["schemas"]["MemberReply"][];
    };
    /** @description How often a misunderstanding was chosen, of all answers that could have been it. */
    MisunderstandingChange: {
      kind: string;
      /** @description In the reader's language. */
      about: string;
      before: number | null;
      after: number | null;
    };
    /** @description A model being served. */
    ModelReply: {
      id: string;
      name: string;
      /** @enum {string} */
      kind: "encoder-decoder" | "encoder" | "decoder";
      /** @description Every attention, in the order in which they run. */
      attentions: components["schemas"]["AttentionInfo"][];
      d_model: number;
      parameters: number;
      vocabulary: number;
      languages: string[];
      max_tokens: number;
      /** @description Digest of config, tokenizer and weights. */
      digest: string;
      /** @description The model card, in Markdown. */
      card: string;
      /**
       * @description The heads closest to human word alignment, for rows that write a word and rows that
       * read it; the better one, on the pairs used to choose them, comes first.
       * @default []
       */
      aligners?: components["schemas"]["Aligner"][];
      /**
       * @description Heads that training supervised to align; none if empty.
       * @default []
       */
      taught?: components["schemas"]["Taught"][];
      /**
       * @description Number of sentences whose attention was recorded during training: `…/learning`.
       * @default 0
       */
      examples?: number;
      /**
       * @description Positional encoding, such as "rotary"; a key of `POSITIONS`.
       * @default sinusoidal
       */
      positions?: string;
      /**
       * @description Position of the layer norm in a sublayer: "post" or "pre".
       * @default post
       */
      norm?: string;
      /**
       * @description Whether the projections of its attentions have biases.
       * @default true
       */
      bias?: boolean;
      /**
       * @description The feed-forward networks of a model whose attentions list their parameters, as far as their
       * calculation is known; those of any other model are the paper's.
       * @default []
       */
      networks?: components["schemas"]["NetworkInfo"][];
      /** @description The capabilities that it has. */
      capabilities: string[];
      /** @description Why each of the other capabilities is missing, such as "no-head": keys of `REASONS`. */
      missing?: {
        [key: string]: string;
      };
      /**
       * @description Trained directions, such as "en-zh"; empty for a model of one text.
       * @default []
       */
      directions?: string[];
      /**
       * @description Example texts; empty if the model has none of its own.
       * @default []
       */
      prompts?: string[];
      /**
       * @description The mask token of a masked language model, such as "[MASK]"; empty if there is none.
       * @default
       */
      mask?: string;
      /** @description The task of a model of the zoo; null for any other. */
      zoo?: components["schemas"]["ZooEntry"] | null;
      /** @description When the model is unsure; null if it was not measured. */
      certainty?: components["schemas"]["Certainty"] | null;
      /** @description Number of layers per stack. */
      layers: {
        [key: string]: number;
      };
      /** @description Number of heads per attention, by stack. */
      heads: {
        [key: string]: number;
      };
      /** @description The texts that it reads: `source` and `target`, or only `text`. */
      texts: string[];
    };
    /**
     * @description One feed-forward network; its tensors are ``f"{place}.hidden"`` and the like.
     *
     * With the activation function f, and without the biases that it does not have:
     *
     *     hidden = f(x W_1 + b_1)                      or, gated, f(x W_g + b_g) · (x W_1 + b_1)
     *     output = hidden W_2 + b_2
     */
    NetworkInfo: {
      /** @description Such as "encoder.0.ffn". */
      place: string;
      /** @description Such as "relu", "gelu", "gelu-tanh" or "silu". */
      activation: string;
      /** @description The number of hidden units. */
      hidden: number;
      /**
       * @description Whether it reads the input of the layer, beside the attention, instead of the sum after
       * it.
       */
      parallel: boolean;
      /** @description Short names of its parameters, such as "W_1"; "W_g" if it is gated. */
      parameters: string[];
    };
    /** @description A share as a frame to embed. */
    OEmbedReply: {
      /**
       * @default rich
       * @constant
       */
      type?: "rich";
      /**
       * @default 1.0
       * @constant
       */
      version?: "1.0";
      title: string;
      /** @default Headlight */
      provider_name?: string;
      provider_url: string;
      /** @default 3600 */
      cache_age?: number;
      /** @description An `<iframe>` of `/embed/{id}`. */
      html: string;
      width: number;
      height: number;
      /** @description The picture of the share, if it fits the limits. */
      thumbnail_url?: string | null;
      thumbnail_width?: number | null;
      thumbnail_height?: number | null;
    };
    /** @description A picture of one head. */
    OneHeadReply: {
      dims: string[];
      over: {
        [key: string]: string;
      };
      shape: number[];
      dtype: ("float32" | "float16" | "uint8") | ("int32" | "bool");
      /** @description Nested lists; null where a number is not finite. */
      data: unknown[];
      span?: components["schemas"]["Span"] | null;
      /** @description Its attention; only in a share. */
      at?: string | null;
      head: number;
      /** @description The window, as requested. */
      query?: number[] | null;
      key?: number[] | null;
      edges?: components["schemas"]["EdgesReply"] | null;
    };
    /** @description A text, and how to continue it. */
    OneTextDecodeRequest: {
      /**
       * Format: int32
       * @description Number of most probable next tokens per hypothesis.
       * @default 10
       */
      candidates?: number;
      /** @description A model's id; absent: the first model. */
      model?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
      /**
       * @description Applied in order.
       * @default []
       */
      interventions?: components["schemas"]["InterventionRequest"][];
      /** @description The text, as typed. */
      text: string;
      /**
       * @description Read the text as a user's turn of a chat, with the model's chat template.
       * @default false
       */
      chat?: boolean;
      /** @description A second text, for an encoder: it reads both as one, as its tokenizer joins them. */
      pair?: string | null;
    };
    /** @description A long text, and the heads to show. */
    OneTextOverviewRequest: {
      /**
       * @description Patterns of attentions, such as `encoder.*.self`. `[]`: only the tokens, without a run, for any model.
       * @default [
       *   "*"
       * ]
       */
      select?: string[];
      /**
       * @description Maximum number of rows and columns of a picture.
       * @default 256
       */
      cells?: number;
      /**
       * @description Type of the numbers sent. `uint8` is value · 254; 255 is a hidden cell.
       * @default float16
       * @enum {string}
       */
      dtype?: "float16" | "float32" | "uint8";
      /** @description A model's id; absent: the first model. */
      model?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
      /**
       * @description Applied in order.
       * @default []
       */
      interventions?: components["schemas"]["InterventionRequest"][];
      /** @description The text, as typed. */
      text: string;
      /**
       * @description Read the text as a user's turn of a chat, with the model's chat template.
       * @default false
       */
      chat?: boolean;
      /** @description A second text, for an encoder: it reads both as one, as its tokenizer joins them. */
      pair?: string | null;
    };
    /** @description The tokens that a model of one text read. */
    OneTextReply: {
      text: components["schemas"]["TokenReply"][];
    };
    /** @description The state in the address bar for a model that reads one text. */
    OneTextShareState: {
      view?: string | null;
      block?: string | null;
      layer?: number | null;
      head?: number | null;
      query?: number | null;
      key?: number | null;
      lang?: string | null;
      /** @description A model's id; absent: the first model. */
      model?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
      /**
       * @description Applied in order.
       * @default []
       */
      interventions?: components["schemas"]["InterventionRequest"][];
      /** @description Pad each text to this many tokens. */
      pad_to?: number | null;
      /** @description The text, as typed. */
      text: string;
      /**
       * @description Read the text as a user's turn of a chat, with the model's chat template.
       * @default false
       */
      chat?: boolean;
      /** @description A second text, for an encoder: it reads both as one, as its tokenizer joins them. */
      pair?: string | null;
      [key: string]: unknown;
    };
    /** @description A text, and what to change in the model that reads it. */
    OneTextSweepRequest: {
      /**
       * @description The effect on each head, or a patch of each part, as in `interventions`. Without `target` the other sentence reads what this one writes; without `rows` its tokens are aligned.
       * @default zero
       */
      effect?: ("zero" | "uniform" | "mean") | components["schemas"]["PatchFrom"];
      /**
       * @description The parts to change, one at a time. `heads`: each head, of which a patch takes the `mix`; `sublayers` (`zero` or a patch): each `output`; `positions` (a patch): the residual stream after each layer at each token; `pairs` (not a patch): each head, then each pair of heads.
       * @default heads
       * @enum {string}
       */
      over?: "heads" | "sublayers" | "positions" | "pairs";
      /** @description For `pairs`: patterns of the attentions; absent: all of them. */
      among?: string[] | null;
      /** @description The id of the token that the written one is contrasted with. Absent: for a patch, what is most probable in the other run, if that is another token; otherwise the second most probable one. */
      against?: number | null;
      /** @description Report only this row; absent: all rows. */
      row?: number | null;
      /** @description A model's id; absent: the first model. */
      model?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
      /**
       * @description Applied in order.
       * @default []
       */
      interventions?: components["schemas"]["InterventionRequest"][];
      /** @description The text, as typed. */
      text: string;
      /**
       * @description Read the text as a user's turn of a chat, with the model's chat template.
       * @default false
       */
      chat?: boolean;
      /** @description A second text, for an encoder: it reads both as one, as its tokenizer joins them. */
      pair?: string | null;
    };
    /** @description A long text, and a window of one head. */
    OneTextTileRequest: {
      /** @description An attention. */
      at: string;
      /** Format: int32 */
      head: number;
      /** @description Absent: all; not with `edges`. */
      query?: number[] | null;
      key?: number[] | null;
      /** @description Maximum number of rows and columns; absent: every token, if the reply fits. */
      cells?: number[] | null;
      /** @description Groups as cells: the mean over a group's queries of their total weight on a group's keys. */
      edges?: components["schemas"]["TileEdges"] | null;
      /** @description A model's id; absent: the first model. */
      model?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
      /**
       * @description Applied in order.
       * @default []
       */
      interventions?: components["schemas"]["InterventionRequest"][];
      /** @description The text, as typed. */
      text: string;
      /**
       * @description Read the text as a user's turn of a chat, with the model's chat template.
       * @default false
       */
      chat?: boolean;
      /** @description A second text, for an encoder: it reads both as one, as its tokenizer joins them. */
      pair?: string | null;
    };
    /** @description A text, how to run it, and what to record. */
    OneTextTraceRequest: {
      /**
       * @description Patterns (`*`, `?`, `[…]`) of tensor names. `[]` selects none, `["*"]` all but `….logits` and the derived tensors `inside.*`. A pattern can be followed by a window (an index or a range for each axis) and a dtype: `encoder.0.self.weights@3,0:64,0:64:float16`. The tensor's name in the reply includes both.
       * @default [
       *   "*.weights"
       * ]
       */
      select?: string[];
      /**
       * @description Patterns of attentions, such as `encoder.*.self`, whose heads to summarise. Summaries are computed from the exact weights, whatever `dtype` is.
       * @default []
       */
      summarise?: string[];
      /**
       * @description Type of the numbers sent, unless `select` gives another. `uint8` is value · 255, for weights only.
       * @default float32
       * @enum {string}
       */
      dtype?: "float32" | "float16" | "uint8";
      /** @description A model's id; absent: the first model. */
      model?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
      /**
       * @description Applied in order.
       * @default []
       */
      interventions?: components["schemas"]["InterventionRequest"][];
      /** @description Pad each text to this many tokens. */
      pad_to?: number | null;
      /** @description The text, as typed. */
      text: string;
      /**
       * @description Read the text as a user's turn of a chat, with the model's chat template.
       * @default false
       */
      chat?: boolean;
      /** @description A second text, for an encoder: it reads both as one, as its tokenizer joins them. */
      pair?: string | null;
    };
    /** @description A question without its answer. */
    OpenQuestion: {
      /** @enum {string} */
      entry: "choice" | "numbers" | "shares" | "text" | "order" | "cell" | "work";
      ask: components["schemas"]["Asked"];
    };
    /** @description A choice of a question that its author wrote. */
    Option: {
      text: string;
      /**
       * @description What choosing it stands for, such as a misunderstanding; sent to nobody until revealed.
       * @default
       */
      note?: string;
    };
    /** @description What a collection was copied from; it may have changed or be gone since. */
    Origin: {
      title: string;
      /** @description A path on this server. */
      link: string;
    };
    /** @description Where a term of a score comes from. */
    OriginReply: {
      /** @description A place such as "decoder.0.self", a stack, or a text such as "source". */
      at: string;
      /**
       * @description Of the heads "mix", of a feed-forward layer "output" (without its bias); the biases "b_q",
       * "b_k", "b_o", "b_2"; "bias" and "own_bias" of norms; of a text "embedding" and
       * "position"; "patch": what an intervention put in, beyond these.
       */
      part: string;
      /** @description The head, for "mix". */
      head?: number | null;
    };
    /** @description The run that a patch takes its values from. */
    OtherRunReply: {
      tokens: components["schemas"]["TokensReply"] | components["schemas"]["OneTextReply"];
      /** @description log p(written) − log p(against) in that run; null for a row of a single text that has no counterpart there. */
      contrast: (number | null)[];
      /** @description Pairs of a row of that run and the row here that it replaces, by text. */
      rows: {
        [key: string]: [number, number][];
      };
    };
    /** @description A sentence whose values replace this one's. */
    OtherSentence: {
      source: string;
      direction?: string | null;
      target?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
    };
    /** @description The text that was decoded or scored. */
    OutputReply: {
      tokens: components["schemas"]["TokenReply"][];
      /** @description Log-probability of each token, in nats. */
      logprobs: (number | null)[];
      /**
       * @description The rank of each token in the whole vocabulary, from 1. Empty in shares made before ranks were stored.
       * @default []
       */
      ranks?: number[];
      /** @description Sum of `logprobs` over the length penalty. */
      score: number | null;
      text: string;
      /** @description Whether the output ends in `<eos>`. */
      finished: boolean;
      /**
       * @description Index of the first token that continues the text, for a model that reads one text; the
       * tokens before it are those of the text.
       * @default 0
       */
      continues?: number;
      /**
       * @description The row that predicts each token; if empty, row i predicts token i.
       * @default []
       */
      rows?: number[];
    };
    /** @description Pictures of heads over a long text. */
    OverviewReply: {
      /** @description Digest of the request and the model. */
      id: string;
      model: string;
      /** @description Only for models that translate. */
      direction?: string | null;
      tokens: components["schemas"]["ReadReply"] | components["schemas"]["OneTextReply"];
      /** @description Absent if nothing is written. */
      output?: components["schemas"]["OutputReply"] | null;
      /** @description `….weights.max` (head, query_cell, key_cell): the largest weight of a cell. */
      tensors: {
        [key: string]: components["schemas"]["OneHeadReply"] | components["schemas"]["CellsReply"];
      };
    };
    /** @description A long source and its target, and the heads to show. */
    OverviewRequest: {
      /**
       * @description Patterns of attentions, such as `encoder.*.self`. `[]`: only the tokens, without a run, for any model.
       * @default [
       *   "*"
       * ]
       */
      select?: string[];
      /**
       * @description Maximum number of rows and columns of a picture.
       * @default 256
       */
      cells?: number;
      /**
       * @description Type of the numbers sent. `uint8` is value · 254; 255 is a hidden cell.
       * @default float16
       * @enum {string}
       */
      dtype?: "float16" | "float32" | "uint8";
      /** @description A model's id; absent: the first model. */
      model?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
      /**
       * @description Applied in order.
       * @default []
       */
      interventions?: components["schemas"]["InterventionRequest"][];
      /** @description The sentence, as typed. */
      source: string;
      /** @description Such as `en-zh`; absent: detected from the script. */
      direction?: string | null;
      /** @description The text to score; absent: the model writes one. */
      target?: string | null;
    };
    /** @description A page that a participant reads. */
    PageToRead: {
      link: string;
      title: string;
    };
    /** @description Matrices and vectors of a model, as in `x @ W + b`. */
    ParametersReply: {
      model: string;
      tensors: {
        [key: string]: components["schemas"]["TensorReply"];
      };
    };
    /** @description Parameters of a model, as in `GET /api/models/{id}/parameters`. */
    ParametersRequest: {
      /** @description A model's id; absent: the first model. */
      model?: string | null;
      select: string[];
    };
    /** @description The run and the step that a run continues. */
    ParentReply: {
      id: string;
      step: number;
    };
    /** @description Where a participant stands. */
    ParticipantReply: {
      /** @description The test that comes next. */
      stage: ("before" | "after" | "later") | "done";
      /** @description To read before the test `after`. */
      pages: components["schemas"]["PageToRead"][];
      /** @description ISO 8601, UTC: when the test opens; null: it is open. */
      opens: string | null;
      /** @description Of the test, if it is open. */
      questions: components["schemas"]["AskedItem"][];
    };
    /** @description Someone who takes part. */
    ParticipantRequest: {
      /** @description The student's random token. */
      member: string;
    };
    /** @description The rows of a tensor in the run of another sentence. */
    PatchFrom: {
      patch: components["schemas"]["PatchSentence"];
    };
    /** @description The sentence, and which of its rows replace which. */
    PatchSentence: {
      source: string;
      direction?: string | null;
      target?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
      /** @description Pairs of a row of that run and the row here that it replaces; absent: each row by the one with its number, which needs texts of equal lengths. */
      rows?: [number, number][] | null;
      /** @description Only what reaches this tensor directly has an effect: all sublayers between are frozen. Absent: everything after the patch is computed from it. */
      to?: components["schemas"]["ReceiverRequest"] | null;
    };
    /** @description That what is presented was made by a member, who is thanked. */
    Picked: {
      /** @description Of the member's work, which only that member knows. */
      id: string;
      /**
       * @description The presenter's words; empty: the usual.
       * @default
       */
      words?: string;
    };
    /** @description A token of the vocabulary, without a position in a text. */
    PieceReply: {
      text: string;
      special: boolean;
    };
    /** @description What the presenter points at: a cell, or one token. */
    Pointer: {
      /** @description The scene whose figure it is in, on a page that has several. */
      figure?: string | null;
      query?: components["schemas"]["TokenRef"] | null;
      key?: components["schemas"]["TokenRef"] | null;
    };
    /** @description A table of positional encodings, and the cosine similarity of every pair of rows. */
    PositionsReply: {
      variant: string;
      /** @description [length][d_model] */
      positions: number[][];
      /** @description [length][length] */
      similarity: number[][];
    };
    /** @description A question to a class, written beforehand. */
    PreparedQuestion: {
      /**
       * @description How it is answered.
       * @enum {string}
       */
      entry: "choice" | "numbers" | "shares" | "text" | "order" | "cell" | "work";
      ask: components["schemas"]["Asked"];
    };
    /** @description A fixed input, the same at every step, and its right answer. */
    ProbeReply: {
      source: string;
      target: string;
    };
    /** @description A problem document (RFC 9457). */
    ProblemReply: {
      type: string;
      title: string;
      status: number;
      detail: string;
      field?: string | null;
      /** @description The maximum allowed. */
      limit?: number | null;
      /** @description What `limit` counts: tokens, characters, bytes, entries, numbers, or units of work. */
      unit?: string | null;
      /** @description The actual number. */
      value?: number | null;
      /** @description Unicode code points of a text that would fit, to a word's end. */
      fits?: number | null;
    };
    /** @description A group of training steps is done. */
    ProgressReply: {
      step: number;
      /** @description Mean over the steps, with label smoothing, nats/token. */
      loss: number | null;
      /** @description Learning rate. */
      rate: number;
      /** @description Training time, without pauses. */
      seconds: number;
    };
    /** @description An additional request of a view, besides the trace of its state: exactly one of these. */
    Question: {
      trace?: (components["schemas"]["TraceRequest"] | components["schemas"]["OneTextTraceRequest"]) | null;
      parameters?: components["schemas"]["ParametersRequest"] | null;
      learning?: components["schemas"]["ExampleRequest"] | null;
      sweep?: (components["schemas"]["SweepRequest"] | components["schemas"]["OneTextSweepRequest"]) | null;
    };
    /** @description A question that was asked, with its answers. */
    QuestionRecord: {
      n: number;
      /** @enum {string} */
      entry: "choice" | "numbers" | "shares" | "text" | "order" | "cell" | "work";
      ask: components["schemas"]["Asked"];
      /** @description The question as the teacher read it; empty: not known. */
      words: string;
      /** @description The words of each choice or field, by its id. */
      choices: {
        [key: string]: string;
      };
      /** @description The right answer; null: none, or not revealed. */
      truth: components["schemas"]["Truth"] | null;
      votes: components["schemas"]["Votes"];
      answers: components["schemas"]["MemberAnswer"][];
    };
    /** @description A question that the room is asked. */
    QuestionReply: {
      n: number;
      /** @enum {string} */
      entry: "choice" | "numbers" | "shares" | "text" | "order" | "cell" | "work";
      ask: components["schemas"]["Asked"];
      /**
       * @description Whether students give a nickname.
       * @default false
       */
      nicknames?: boolean;
      /** @enum {string} */
      stage: "first" | "discuss" | "second" | "closed" | "revealed";
      /** @description When its timer is over, Unix time in seconds. */
      ends?: number | null;
      truth?: components["schemas"]["Truth"] | null;
      /** @description Once revealed. */
      results?: components["schemas"]["Votes"] | null;
    };
    /** @description A question to the room. */
    QuestionRequest: {
      /**
       * @description How it is answered.
       * @enum {string}
       */
      entry: "choice" | "numbers" | "shares" | "text" | "order" | "cell" | "work";
      ask: components["schemas"]["Asked"];
      /**
       * @description Whether students give a nickname.
       * @default false
       */
      nicknames?: boolean;
      /** @description For the files of answers; sent to nobody. */
      wording?: components["schemas"]["Wording"] | null;
    };
    /** @description The range of a number. */
    RangeReply: {
      low: number;
      high: number;
    };
    /** @description The learning rate was changed. */
    RateReply: {
      factor: number;
      step: number;
    };
    /** @description The tokens of a source and a target. */
    ReadReply: {
      source: components["schemas"]["TokenReply"][];
      /**
       * @description Absent if only tokens were requested, and there is no target.
       * @default []
       */
      target?: components["schemas"]["TokenReply"][];
    };
    /** @description A model answers, and the database accepts a write. */
    Ready: {
      /** @constant */
      status: "ready";
    };
    /** @description Where the path of a patch ends. */
    ReceiverRequest: {
      /** @description The full name of a tensor, such as `decoder.2.cross.q`. */
      at: string;
      /** @description A head of it; all of it if absent. */
      head?: number | null;
    };
    /** @description A link that was presented. */
    RecordEntry: {
      seq: number;
      /** @description Unix time in seconds. */
      at: number;
      link: string;
    };
    /** @description What was presented, in order. */
    RecordReply: {
      states: components["schemas"]["RecordEntry"][];
    };
    /** @description One number per offset of a key from its query, added to the scores or multiplied. */
    RelativeBody: {
      /** @description By offset, such as {"-1": 0.5}; 0 for offsets that are not listed. */
      add?: {
        [key: string]: number;
      } | null;
      /** @description The same as factors; 1 for offsets that are not listed. */
      multiply?: {
        [key: string]: number;
      } | null;
      /** @description Larger offsets count as this one. */
      clip?: number | null;
    };
    /** @description How many members were removed. */
    RemovalReply: {
      removed: number;
    };
    /** @description Members to be removed. */
    RemovalRequest: {
      /** @description Their ids. */
      members: string[];
    };
    /** @description The sum of a vote. */
    Results: {
      /** @description Number of answers. */
      count: number;
      /** @description Number of answers by choice, or by number where one is asked for: the twenty most frequent ones, and the right ones. */
      chosen: {
        [key: string]: number;
      };
      /**
       * @description Answers that are not among `chosen`.
       * @default 0
       */
      others?: number;
      /** @description Mean number per field, or mean share, of answers with as many as most. */
      mean: number[];
      /** @description Right answers; of rows, those with the same maximum. */
      right: number | null;
      /**
       * @description Rows as shares of 1, the nearest to the model's first; of many, an even selection from the nearest to the farthest.
       * @default []
       */
      rows?: number[][];
      /** @description Mean total variation distance of rows from the model's, ½ Σ|p − q|. */
      distance: number | null;
    };
    /** @description An open room. */
    RoomCreated: {
      /** @description What students type. */
      code: string;
      /** @description What students open. */
      url: string;
      /** @description Controls the room (`Authorization: Bearer`); returned only here. */
      key: string;
    };
    /** @description A change of who may come in, and of exploring; what is absent stays. */
    RoomPatch: {
      /** @description Whether the room is closed to newcomers. */
      closed?: boolean | null;
      /** @description Whether members cannot explore. */
      paused?: boolean | null;
      /** @description Whether the teacher sees what members explore; `named`: they may add a nickname. `closed` deletes what they sent. */
      wall?: ("closed" | "open" | "named") | null;
    };
    /** @description Everything that was asked, answered and presented in a room. */
    RoomRecord: {
      code: string;
      /** @description Unix time in seconds. */
      created: number;
      /** @description Unix time in seconds. */
      saved: number;
      questions: components["schemas"]["QuestionRecord"][];
      states: components["schemas"]["RecordEntry"][];
    };
    /** @description The present state of a room. */
    RoomReply: {
      /** @description Number of the state; a higher one is newer. */
      seq: number;
      link: string;
      pointer?: components["schemas"]["Pointer"] | null;
      question?: components["schemas"]["QuestionReply"] | null;
      /** @description Whether someone presents from the driver's seat. */
      handed: boolean;
      /**
       * @description Whether the room is closed to newcomers.
       * @default false
       */
      closed?: boolean;
      /**
       * @description Whether members cannot explore at present.
       * @default false
       */
      paused?: boolean;
      /**
       * @description Whether the teacher sees what members explore; `named`: with nicknames.
       * @default closed
       * @enum {string}
       */
      wall?: "closed" | "open" | "named";
      picked?: components["schemas"]["Picked"] | null;
      /** @description Whether the room has ended. */
      over: boolean;
    };
    /** @description A new room. */
    RoomRequest: {
      state: components["schemas"]["RoomState"];
    };
    /** @description What is presented, as a whole. */
    RoomState: {
      /** @description Path, query and fragment of a page. */
      link: string;
      pointer?: components["schemas"]["Pointer"] | null;
      /** @description If a member's work is presented. */
      picked?: components["schemas"]["Picked"] | null;
    };
    /** @description A new run, in the queue or already started. */
    RunCreated: {
      id: string;
      /** @description The page of the run, for everyone. */
      url: string;
      /** @description Controls the run (`Run-Key`); returned only here. */
      key: string;
    };
    /** @description A numbered event, or `alive` without a number to keep the connection open. */
    RunLine: {
      n?: number | null;
      state?: components["schemas"]["RunStateReply"] | null;
      begun?: components["schemas"]["BegunReply"] | null;
      progress?: components["schemas"]["ProgressReply"] | null;
      snapshot?: components["schemas"]["RunSnapshotReply"] | null;
      learning_rate?: components["schemas"]["RateReply"] | null;
      alive?: boolean | null;
      error?: components["schemas"]["ProblemReply"] | null;
    };
    /** @description A task, the parts of the model, and how to train it. */
    RunOptions: {
      /**
       * @default reverse
       * @enum {string}
       */
      task?: "copy" | "reverse" | "shift" | "sort" | "brackets" | "addition" | "induction" | "who";
      /**
       * @description Length of the longest examples to train and test on, in the task's unit (letters, digits);
       * if absent, the task's default.
       */
      longest?: number | null;
      /**
       * @default rotary
       * @enum {string}
       */
      positions?: "sinusoidal" | "learned" | "relative" | "relative-product" | "rotary" | "none";
      /**
       * @default scaled-dot
       * @enum {string}
       */
      scoring?: "scaled-dot" | "dot" | "additive" | "additive-bias";
      /**
       * @description Mask of the encoder's self-attention: `padding` hides no token, `window-3` hides keys that
       * are three or more positions away.
       * @default padding
       * @enum {string}
       */
      mask?: "padding" | "causal" | "window-2" | "window-3" | "window-5";
      /**
       * @default post
       * @enum {string}
       */
      norm?: "post" | "pre";
      /** @default 2 */
      heads?: number;
      /** @default 1 */
      encoder_layers?: number;
      /** @default 1 */
      decoder_layers?: number;
      /**
       * @description Width of the model; the hidden layer of the feed-forward network is twice as wide.
       * @default 64
       */
      d_model?: number;
      /**
       * @description Training steps; over the second half, the learning rate falls to 0.
       * @default 1500
       */
      steps?: number;
      /**
       * @description Tokens per step, source and target together.
       * @default 1000
       */
      batch?: number;
      /**
       * @description Factor on the paper's schedule, d_model^−0.5 · min(step^−0.5, step · warmup^−1.5).
       * @default 0.6
       */
      learning_rate?: number;
      /**
       * @description Steps over which the learning rate rises; 1 means no warm-up.
       * @default 200
       */
      warmup?: number;
      /** @default 0 */
      label_smoothing?: number;
      /** @default 0 */
      dropout?: number;
      /**
       * @description Seed of the initial weights, the examples and their order.
       * @default 1
       */
      seed?: number;
    };
    /** @description Changes of a run; absent fields stay as they are. */
    RunPatch: {
      /** @description Pause or resume. */
      paused?: boolean | null;
      /** @description Factor on the paper's schedule, from the next step on. */
      learning_rate?: number | null;
      /** @description End for good. */
      stop?: true | null;
    };
    /** @description The current state of a run. */
    RunReply: {
      id: string;
      /** @enum {string} */
      state: "queued" | "starting" | "running" | "paused" | "finished" | "stopped" | "failed";
      /** @description Why it has ended. */
      why: ("steps" | "minutes" | "asked" | "unwatched" | "crashed" | "storage-full" | "storage-unavailable") | null;
      /** @description Place in the queue, from 1. */
      place: number | null;
      step: number;
      options: components["schemas"]["RunOptions"];
      /** @description Current factor on the schedule. */
      learning_rate: number;
      parent: components["schemas"]["ParentReply"] | null;
      /** @description Number of events so far, which is the number of the next one. */
      events: number;
      /** @description The model in training; null before it starts. */
      model: components["schemas"]["ModelReply"] | null;
      probes: components["schemas"]["ProbeReply"][];
      snapshots: components["schemas"]["RunSnapshotReply"][];
    };
    /** @description The model at one step, tested on held-out examples. */
    RunSnapshotReply: {
      step: number;
      /** @description In nats per token; null if training diverged. */
      loss: number | null;
      /** @description Share of examples whose answer is entirely right. */
      accuracy: number;
      /** @description Of training. */
      seconds: number;
      /** @description The model's answer to each probe. */
      written: string[];
    };
    /** @description A change of the state, or of the place in the queue. */
    RunStateReply: {
      /** @enum {string} */
      state: "queued" | "starting" | "running" | "paused" | "finished" | "stopped" | "failed";
      why: ("steps" | "minutes" | "asked" | "unwatched" | "crashed" | "storage-full" | "storage-unavailable") | null;
      place: number | null;
      step: number;
    };
    /** @description The tasks and options that can be trained, and how busy the server is. */
    RunsReply: {
      /** @description Number of runs that have a process. */
      training: number;
      /** @description Number of runs in the queue. */
      waiting: number;
      /** @description Maximum training time of a run. */
      minutes: number;
      defaults: components["schemas"]["RunOptions"];
      tasks: {
        [key: string]: components["schemas"]["TaskReply"];
      };
      /** @description Ranges of the numeric options, by name. */
      ranges: {
        [key: string]: components["schemas"]["RangeReply"];
      };
    };
    /** @description A factor of every number: 0.5 halves what a part adds. */
    Scale: {
      scale: number;
    };
    /** @description Results at each d_k: `scores` and `weights` of one query, the others of many. */
    ScalingReply: {
      /** @description For each d_k, one number per key. */
      scores: number[][];
      /** @description Their softmax. */
      weights: number[][];
      /** @description Standard deviation of the scores. */
      spread: number[];
      /** @description Mean of the largest weight. */
      largest: number[];
      /** @description Mean slope of the largest weight a against its own score, a (1 − a). */
      gradient: number[];
    };
    /** @description The same random queries and keys, scored without and with 1/√d_k. */
    ScalingsReply: {
      d_k: number[];
      dot: components["schemas"]["ScalingReply"];
      scaled: components["schemas"]["ScalingReply"];
    };
    /** @description The same participants in two tests. */
    ScoreChange: {
      /** @description Participants who took both tests. */
      n: number;
      before: components["schemas"]["MeanScore"];
      after: components["schemas"]["MeanScore"];
      /** @description Difference of the means. */
      gain: number | null;
      /** @description Hake's normalized gain. */
      normalized: number | null;
      effect: components["schemas"]["EffectSize"] | null;
    };
    /**
     * @description The terms of one score, which name the axes of its tensors `inside.score.…`.
     *
     * Its numbers are null if the text does not reach the cell.
     */
    ScoreReply: {
      /** @description scale · q · k + offset, before the mask. */
      score: number | null;
      /** @description What relative positions add to the product. */
      offset: number | null;
      /** @description The terms of the query: `query_term`. */
      queries: components["schemas"]["OriginReply"][];
      /** @description The terms of the key: `key_term`. */
      keys: components["schemas"]["OriginReply"][];
    };
    /** @description A key for the driver's seat. */
    SeatReply: {
      /** @description Presents in the room until the seat is taken back. */
      key: string;
      /** @description The room's page with the key in its fragment. */
      url: string;
      /** @description The QR code of `url`, as SVG: no request has the key in its URL. */
      qr: string;
    };
    /** @description One trained model of a recipe. */
    SeedReply: {
      seed: number;
      digest: string;
      /** @description Whether it is the model being served. */
      shipped: boolean;
      parameters: number;
      steps: number;
      /** @description Step, training loss and dev loss, in nats per token. */
      curve: [number, number, number][];
      /** @description By length: share of held-out examples whose answer is entirely right. */
      accuracy: {
        [key: string]: number;
      };
      /** @description By attention and head: how often its largest weight is on a token that determines the answer, at the longest training length. */
      looks: {
        [key: string]: number[];
      };
    };
    /** @description A weight, instead of the one from the softmax. */
    SetWeight: {
      /** @description Query, key, weight. */
      set: [number, number, number];
      /**
       * @description Scale the other weights of the row so that it sums to 1.
       * @default false
       */
      renormalise?: boolean;
    };
    /** @description The share is stored and will open. */
    ShareCreated: {
      id: string;
      url: string;
      /** @description Deletes the share. Returned only once: null if this client has already made this share. */
      edit_key: string | null;
      /** @description ISO 8601, UTC; null: kept permanently. */
      expires: string | null;
    };
    /** @description A share: its state, and the results from when it was created. */
    ShareReply: {
      id: string;
      /** @description Format of this reply, whichever server wrote the share. */
      format: number;
      state: components["schemas"]["ShareState"] | components["schemas"]["OneTextShareState"] | components["schemas"]["LabShareState"];
      /** @description ISO 8601, UTC. */
      created: string;
      /** @description The model as it was then; null for attention by hand, which has none. */
      model: components["schemas"]["ModelReply"] | null;
      /** @description The requests as sent; `GET /api/shares/{id}/asks/{n}` has the replies. */
      asks: components["schemas"]["Question"][];
      /** @description The author's texts; null: none. */
      about: components["schemas"]["About"] | null;
      /** @description Of a long text an overview, with the frozen windows as `tile.0` and so on. */
      trace: components["schemas"]["TraceReply"] | components["schemas"]["LabTraceReply"] | components["schemas"]["OverviewReply"];
    };
    /** @description A state to store, together with the server's results for it. */
    ShareRequest: {
      state: components["schemas"]["ShareState"] | components["schemas"]["OneTextShareState"] | components["schemas"]["LabShareState"];
      /**
       * @description Tensors to freeze besides those in every share, as in a trace.
       * @default []
       */
      select?: string[];
      /**
       * @description More requests, frozen with their replies.
       * @default []
       */
      asks?: components["schemas"]["Question"][];
      /**
       * @description Windows of a long text to freeze, as in `POST /api/tile`.
       * @default []
       */
      tiles?: components["schemas"]["Window"][];
      about?: components["schemas"]["About"] | null;
    };
    /** @description The state in the address bar: how to run a sentence, and what to show. */
    ShareState: {
      view?: string | null;
      block?: string | null;
      layer?: number | null;
      head?: number | null;
      query?: number | null;
      key?: number | null;
      lang?: string | null;
      /** @description A model's id; absent: the first model. */
      model?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
      /**
       * @description Applied in order.
       * @default []
       */
      interventions?: components["schemas"]["InterventionRequest"][];
      /** @description Pad each text to this many tokens. */
      pad_to?: number | null;
      /** @description The sentence, as typed. */
      source: string;
      /** @description Such as `en-zh`; absent: detected from the script. */
      direction?: string | null;
      /** @description The text to score; absent: the model writes one. */
      target?: string | null;
      [key: string]: unknown;
    };
    /** @description A collection that anyone can copy. */
    ShelfEntry: {
      /** @description For `POST /api/collections/{id}/copies`. */
      id: string;
      title: string;
      note: string;
      languages: ("en" | "zh")[];
      /** @description Planned; 0: not known. */
      minutes: number;
      figures: number;
      /** @description Prepared for the class. */
      questions: number;
      origin?: components["schemas"]["Origin"] | null;
      /** @description Where it is shown: a path on this server. */
      link: string;
      /**
       * @description The title of the lesson that it comes with.
       * @default
       */
      lesson?: string;
      /**
       * @description Of one that comes with Headlight.
       * @default []
       */
      items?: components["schemas"]["ShelfItem"][];
    };
    /** @description An item of a collection that comes with Headlight. */
    ShelfItem: {
      title: string;
      minutes: number;
      questions: string[];
    };
    /** @description All collections that anyone can copy: those of Headlight, then the newest. */
    ShelfReply: {
      collections: components["schemas"]["ShelfEntry"][];
      /** @description Whether collections can be listed on this server. */
      listing: boolean;
    };
    /** @description Positions in another order; `at` is `source.position`. */
    Shuffle: {
      /** @description A seed; the same seed gives the same order. */
      shuffle: number;
    };
    /** @description Another head of the same kind. */
    SimilarReply: {
      place: string;
      head: number;
      /** @description Mean Jensen–Shannon divergence of their rows, in nats: 0 is the same attention, ln 2 = 0.69 never the same key. */
      divergence: number;
    };
    /** @description The model at one step of its training, measured on the same dev pairs at every step. */
    SnapshotReply: {
      step: number;
      /** @description Dev loss, in nats per token; null if training diverged. */
      loss: number | null;
      /** @description By direction, with greedy decoding; empty for a task of the zoo. */
      bleu: {
        [key: string]: number;
      };
      /** @description For a task of the zoo: share of held-out answers that are right. */
      accuracy?: number | null;
    };
    /** @description The tokens that the encoder reads. */
    SourceReply: {
      source: components["schemas"]["TokenReply"][];
    };
    /** @description Tokens per cell; the last cell may have fewer. */
    Span: {
      query: number;
      key: number;
    };
    /** @description The next stage of a question. */
    StageRequest: {
      /** @enum {string} */
      stage: "discuss" | "second" | "revealed";
      /** @description The works that the class sees from now on, by their ids; absent: as before, at first none. */
      gallery?: string[] | null;
      /** @description The model's answer, to compare with. */
      truth?: components["schemas"]["Truth"] | null;
    };
    /** @description What a student answered; `member` is the same in the table. */
    StudentAnswers: {
      member: string;
      nickname: string | null;
      /** @description ISO 8601, UTC. */
      sent: string;
      /** @description One per question; null: not answered. */
      answers: (string[] | null)[];
      /** @description One per question; null: not answered, or nothing to compare with. */
      right: (boolean | null)[];
    };
    /** @description The answers to one test. */
    StudyAnswers: {
      /** @description The student's random token. */
      member: string;
      /** @enum {string} */
      stage: "before" | "after" | "later";
      /** @description One per question: the place of the chosen option, from 0; null: none. */
      answers: (number | null)[];
    };
    /** @description What one group of participants reads between the tests. */
    StudyArm: {
      /** @description For the author. */
      name: string;
      /**
       * @description In this order; none: a control group.
       * @default []
       */
      pages?: components["schemas"]["StudyPage"][];
    };
    /** @description A page that participants read. */
    StudyPage: {
      /** @description Path, query and fragment of a page. */
      link: string;
      /**
       * @description Empty: the title of a lesson, or else the link.
       * @default
       */
      title?: string;
    };
    /** @description A study as participants get it: not what the arms are. */
    StudyReply: {
      id: string;
      url: string;
      title: string;
      note: string;
      later_days: number | null;
      /** @description Questions of each test. */
      items: number;
      /** @description ISO 8601, UTC. */
      created: string;
    };
    /** @description A study: the arms to which participants are assigned at random. */
    StudyRequest: {
      title: string;
      /**
       * @description To the students.
       * @default
       */
      note?: string;
      arms: components["schemas"]["StudyArm"][];
      /** @description Days from the second test to a third one; null: there is none. */
      later_days?: number | null;
    };
    /** @description The results of a study. */
    StudyResults: {
      participants: number;
      arms: components["schemas"]["ArmResults"][];
      comparisons: components["schemas"]["ArmComparison"][];
    };
    /** @description What a student answers. */
    SubmissionRequest: {
      /** @description The student's random token. */
      member: string;
      nickname?: string | null;
      /** @description One per question; null: not answered. */
      answers: (string[] | null)[];
    };
    /**
     * @description Measures of the heads of one attention: one mean per head, over rows that can choose keys.
     *
     * A number is null if no row counts; fields that do not apply to the attention are absent.
     */
    SummaryReply: {
      /** @description Entropy of a row, in nats. */
      entropy: (number | null)[];
      /** @description Entropy over its maximum: 1 is uniform attention. */
      spread: (number | null)[];
      /** @description Weight on the first token. */
      first: (number | null)[];
      /** @description Weight on the last token. */
      last: (number | null)[];
      /** @description Weight on special tokens. */
      special: (number | null)[];
      /** @description Weight on the same word elsewhere. */
      same: (number | null)[];
      /**
       * @description |query - key| (self-attention).
       * @default []
       */
      distance?: (number | null)[];
      /**
       * @description Weight on the token before (self).
       * @default []
       */
      previous?: (number | null)[];
      /**
       * @description Weight on the token itself (self).
       * @default []
       */
      itself?: (number | null)[];
      /**
       * @description Weight on the token after (self).
       * @default []
       */
      next?: (number | null)[];
      /**
       * @description How close to a one-to-one alignment (cross).
       * @default []
       */
      alignment?: (number | null)[];
      /** @description Pattern of each head, as defined in docs/patterns.md. */
      pattern: string[];
    };
    /** @description What the heads of a model do over many sentences. */
    SurveyReply: {
      model: string;
      digest: string;
      /** @description The name of the text. */
      title: string;
      sentences: number;
      /** @description Tokens by text. */
      tokens: {
        [key: string]: number;
      };
      /** @description Sentence pairs over which costs were measured. */
      pairs: number | null;
      /** @description Loss with all heads, in nats per target token. */
      loss: number | null;
      /** @description Sentences that can be searched; 0: none. */
      indexed: number;
      heads: components["schemas"]["SurveyedHeadReply"][];
    };
    /** @description What a head does over many sentences. */
    SurveyedHeadReply: {
      place: string;
      /** @description From 0. */
      head: number;
      /** @description Rows that count: they can attend to at least two keys. */
      rows: number;
      /** @description Means over rows, by name (docs/patterns.md); null where no row counts. */
      measures: {
        [key: string]: number | null;
      };
      /** @description Share of the rows that count in which each pattern holds, 0 to 1. */
      patterns: {
        [key: string]: number | null;
      };
      /** @description The few patterns that describe it, each with the share of rows in which it holds and none before it does. */
      described: components["schemas"]["HeldReply"][];
      /** @description The most similar heads, nearest first. */
      similar: components["schemas"]["SimilarReply"][];
      /** @description Null: not measured. */
      cost: components["schemas"]["CostReply"] | null;
      /** @description What it adds to the logits directly, by token that it looks at; empty: no output matrix reads its stack, or it gives no token half of its weight often enough. */
      writes: components["schemas"]["WritesReply"][];
    };
    /** @description All changes are done. */
    SweepEnd: Record<string, never>;
    /** @description A line of the stream: `start`, then `changes` with `done`, then `end`; or `error`. */
    SweepLine: {
      start?: components["schemas"]["SweepStart"] | null;
      changes?: components["schemas"]["ChangeReply"][] | null;
      /** @description Changes done so far. */
      done?: number | null;
      end?: components["schemas"]["SweepEnd"] | null;
      error?: components["schemas"]["ProblemReply"] | null;
    };
    /** @description All lines of a sweep, as a share stores them. */
    SweepReply: {
      model: string;
      lines: components["schemas"]["SweepLine"][];
      /** @description Always empty. */
      tensors: {
        [key: string]: components["schemas"]["TensorReply"];
      };
    };
    /** @description A sentence, and what to change in the model that reads it. */
    SweepRequest: {
      /**
       * @description The effect on each head, or a patch of each part, as in `interventions`. Without `target` the other sentence reads what this one writes; without `rows` its tokens are aligned.
       * @default zero
       */
      effect?: ("zero" | "uniform" | "mean") | components["schemas"]["PatchFrom"];
      /**
       * @description The parts to change, one at a time. `heads`: each head, of which a patch takes the `mix`; `sublayers` (`zero` or a patch): each `output`; `positions` (a patch): the residual stream after each layer at each token; `pairs` (not a patch): each head, then each pair of heads.
       * @default heads
       * @enum {string}
       */
      over?: "heads" | "sublayers" | "positions" | "pairs";
      /** @description For `pairs`: patterns of the attentions; absent: all of them. */
      among?: string[] | null;
      /** @description The id of the token that the written one is contrasted with. Absent: for a patch, what is most probable in the other run, if that is another token; otherwise the second most probable one. */
      against?: number | null;
      /** @description Report only this row; absent: all rows. */
      row?: number | null;
      /** @description A model's id; absent: the first model. */
      model?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
      /**
       * @description Applied in order.
       * @default []
       */
      interventions?: components["schemas"]["InterventionRequest"][];
      /** @description The sentence, as typed. */
      source: string;
      /** @description Such as `en-zh`; absent: detected from the script. */
      direction?: string | null;
      /** @description The text to score; absent: the model writes one. */
      target?: string | null;
    };
    /** @description The run before anything is changed. */
    SweepStart: {
      model: string;
      direction?: string | null;
      /** @description How many changes there will be. */
      changes: number;
      tokens: components["schemas"]["TokensReply"] | components["schemas"]["OneTextReply"];
      /** @description Output without changes. */
      output: components["schemas"]["OutputReply"];
      /** @description Log-probability of the token that each row predicts, in nats. */
      logprobs: number[];
      /** @description The token that each row's is contrasted with. */
      against: components["schemas"]["AgainstReply"][];
      /** @description log p(written) − log p(against), in nats. */
      contrast: number[];
      /** @description For each row, other tokens that are probable: for a patch the five most probable ones in the other run, then those here. */
      candidates: components["schemas"]["AgainstReply"][][];
      /** @description For a patch: the other run. */
      other?: components["schemas"]["OtherRunReply"] | null;
    };
    /** @description A task that can be trained. */
    TaskReply: {
      /** @description Unit of its lengths. */
      unit: string;
      /** @description Lowest value of `longest`. */
      shortest: number;
      /** @description Default of `longest`. */
      usual: number;
      /** @description Highest value of `longest`. */
      most: number;
      /** @description A source and its answer. */
      example: string[];
    };
    /** @description A cross-attention head that training supervised to align, by its rows, from a step on. */
    Taught: {
      layer: number;
      head: number;
      /**
       * @description Rows that write a word, or the next ones, which read it.
       * @enum {string}
       */
      rows: "writes" | "reads";
      /** @description The training step from which it was supervised. */
      since: number;
    };
    /** @description A tensor whose axes have names; `over` gives the texts of the query and key axes. */
    TensorReply: {
      dims: string[];
      over: {
        [key: string]: string;
      };
      shape: number[];
      dtype: ("float32" | "float16" | "uint8") | ("int32" | "bool");
      /** @description Nested lists; null where a number is not finite. */
      data: unknown[];
    };
    /** @description Edges of groups of tokens, such as sentences: a group is between two neighbouring edges. */
    TileEdges: {
      query: number[];
      key: number[];
    };
    /** @description A window of one head. */
    TileReply: {
      id: string;
      model: string;
      /** @description `….weights.max` (query_cell, key_cell): the largest weight of a cell; with `edges` `….weights.sum`. */
      tensors: {
        [key: string]: components["schemas"]["OneHeadReply"];
      };
    };
    /** @description A long source and its target, and a window of one head. */
    TileRequest: {
      /** @description An attention. */
      at: string;
      /** Format: int32 */
      head: number;
      /** @description Absent: all; not with `edges`. */
      query?: number[] | null;
      key?: number[] | null;
      /** @description Maximum number of rows and columns; absent: every token, if the reply fits. */
      cells?: number[] | null;
      /** @description Groups as cells: the mean over a group's queries of their total weight on a group's keys. */
      edges?: components["schemas"]["TileEdges"] | null;
      /** @description A model's id; absent: the first model. */
      model?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
      /**
       * @description Applied in order.
       * @default []
       */
      interventions?: components["schemas"]["InterventionRequest"][];
      /** @description The sentence, as typed. */
      source: string;
      /** @description Such as `en-zh`; absent: detected from the script. */
      direction?: string | null;
      /** @description The text to score; absent: the model writes one. */
      target?: string | null;
    };
    /** @description A timer for the present stage of a question. */
    TimerRequest: {
      /** @description From now on; 0: no timer. */
      seconds: number;
    };
    /** @description A row of the tensor in the run of another sentence. */
    TokenOfSentence: {
      source: string;
      direction?: string | null;
      target?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
      /**
       * Format: int32
       * @description A token of the text that the tensor's rows are.
       */
      row: number;
    };
    /** @description One token of a text. */
    TokenRef: {
      /** @description The text, such as `source`. */
      side: string;
      /** Format: int32 */
      index: number;
    };
    /** @description A piece of text; `start` and `end` count Unicode code points of the text as sent. */
    TokenReply: {
      text: string;
      id: number;
      start: number;
      end: number;
      special: boolean;
      /**
       * @description Whether a chat's template adds it to the text.
       * @default false
       */
      template?: boolean;
      /**
       * @description Whether it belongs to the second text of a pair, whose code points its offsets count.
       * @default false
       */
      pair?: boolean;
    };
    /** @description The tokens that the encoder and the decoder read. */
    TokensReply: {
      source: components["schemas"]["TokenReply"][];
      target: components["schemas"]["TokenReply"][];
    };
    /** @description The tokens, the output and the selected tensors of a run. */
    TraceReply: {
      /** @description Digest of the request and the model; equal runs have equal ids. */
      id: string;
      model: string;
      /** @description Only for models that translate. */
      direction?: string | null;
      tokens: components["schemas"]["TokensReply"] | components["schemas"]["OneTextReply"];
      /** @description Absent if nothing is written. */
      output?: components["schemas"]["OutputReply"] | null;
      tensors: {
        [key: string]: components["schemas"]["TensorReply"];
      };
      /**
       * @description The tokens for ids in `…candidates` tensors, by id.
       * @default {}
       */
      pieces?: {
        [key: string]: components["schemas"]["PieceReply"];
      };
      /**
       * @description The terms of scores by cell, such as `decoder.1.cross.3.4.1`; if selected.
       * @default {}
       */
      scores?: {
        [key: string]: components["schemas"]["ScoreReply"];
      };
      /**
       * @description By attention, such as `encoder.0.self`; if requested.
       * @default {}
       */
      summaries?: {
        [key: string]: components["schemas"]["SummaryReply"];
      };
      /** @description In a share: the model of this reply, if it is not the share's. */
      described?: components["schemas"]["ModelReply"] | null;
    };
    /** @description A sentence, how to run it, and what to record. */
    TraceRequest: {
      /**
       * @description Patterns (`*`, `?`, `[…]`) of tensor names. `[]` selects none, `["*"]` all but `….logits` and the derived tensors `inside.*`. A pattern can be followed by a window (an index or a range for each axis) and a dtype: `encoder.0.self.weights@3,0:64,0:64:float16`. The tensor's name in the reply includes both.
       * @default [
       *   "*.weights"
       * ]
       */
      select?: string[];
      /**
       * @description Patterns of attentions, such as `encoder.*.self`, whose heads to summarise. Summaries are computed from the exact weights, whatever `dtype` is.
       * @default []
       */
      summarise?: string[];
      /**
       * @description Type of the numbers sent, unless `select` gives another. `uint8` is value · 255, for weights only.
       * @default float32
       * @enum {string}
       */
      dtype?: "float32" | "float16" | "uint8";
      /** @description A model's id; absent: the first model. */
      model?: string | null;
      /**
       * @default {
       *   "method": "greedy",
       *   "beam": 4,
       *   "length_penalty": 0.6,
       *   "temperature": 1,
       *   "top_p": 1,
       *   "seed": 0,
       *   "prefix": []
       * }
       */
      decode?: components["schemas"]["DecodeOptions"];
      /**
       * @description Applied in order.
       * @default []
       */
      interventions?: components["schemas"]["InterventionRequest"][];
      /** @description Pad each text to this many tokens. */
      pad_to?: number | null;
      /** @description The sentence, as typed. */
      source: string;
      /** @description Such as `en-zh`; absent: detected from the script. */
      direction?: string | null;
      /** @description The text to score; absent: the model writes one. */
      target?: string | null;
    };
    /** @description A question that its author wrote in a second language. */
    Translation: {
      words: string;
      /** @default [] */
      options?: string[];
    };
    /** @description The model's answer: ids of the right choices, or numbers. */
    Truth: {
      /** @default [] */
      right?: string[];
      /** @default [] */
      numbers?: number[];
      /**
       * @description How far a number may be off.
       * @default 0.005
       */
      within?: number;
    };
    /** @description A work as it was stored, and whether it reaches the goal. */
    TryReply: {
      /** @description As in the gallery and in `picked`. */
      id: string;
      /** @description What was run: what may not be chosen is that of the question. */
      link: string;
      verdict: components["schemas"]["Verdict"];
    };
    /** @description A member's work for the present question. */
    TryRequest: {
      /** @description The student's random token. */
      member: string;
      /**
       * Format: int32
       * @description Number of the question.
       */
      n: number;
      /** @description Of the workspace. */
      link: string;
      /** @description Only if the question asks for it. */
      nickname?: string | null;
    };
    /** @description Whether a goal was reached, and what the run showed. */
    Verdict: {
      /** @description Whether it does what is asked; null: nothing is. */
      does: boolean | null;
      /** @description A word of the goal that the texts do not have. */
      missing?: string | null;
      /**
       * @description Whether more than one word was changed.
       * @default false
       */
      rewritten?: boolean;
      /** @description What the word gets of the head's attention, at most. */
      weight?: number | null;
      /** @description The token that gets the largest weight of these rows. */
      strongest?: string | null;
      /** @description What the model wrote. */
      output?: string | null;
    };
    /** @description The results of a question's votes. */
    Votes: {
      first: components["schemas"]["Results"];
      second: components["schemas"]["Results"];
    };
    /** @description What the members explore. */
    WallReply: {
      works: components["schemas"]["Work"][];
    };
    /** @description A sentence recorded during training. */
    WatchedReply: {
      source: string;
      direction: string;
      /** @description The trained model's translation. */
      text: string;
    };
    /** @description A window of one head. */
    Window: {
      /** @description An attention. */
      at: string;
      /** Format: int32 */
      head: number;
      /** @description Absent: all; not with `edges`. */
      query?: number[] | null;
      key?: number[] | null;
      /** @description Maximum number of rows and columns; absent: every token, if the reply fits. */
      cells?: number[] | null;
      /** @description Groups as cells: the mean over a group's queries of their total weight on a group's keys. */
      edges?: components["schemas"]["TileEdges"] | null;
    };
    /** @description How a question reads on the teacher's page. */
    Wording: {
      words: string;
      /**
       * @description The words of each choice or field, by its id.
       * @default {}
       */
      choices?: {
        [key: string]: string;
      };
    };
    /** @description What a member explores; `id` is in no list of members or answers. */
    Work: {
      id: string;
      link: string;
      nickname?: string | null;
      /** @description Unix time in seconds. */
      at: number;
    };
    /** @description An entry of the wall. */
    WorkCreated: {
      /** @description As in `picked`, if it is shown to everyone. */
      id: string;
    };
    /** @description What a member explores. */
    WorkRequest: {
      /** @description The student's random token. */
      member: string;
      /** @description Path, query and fragment of a page. */
      link: string;
      /** @description Only if the wall is `named`. */
      nickname?: string | null;
    };
    /** @description A token that a head looks at, and what its value adds to the logits with a weight of 1. */
    WritesReply: {
      token: string;
      /** @description Rows in which it has at least half of the head's weight. */
      rows: number;
      /** @description The most raised tokens; means over these rows. */
      adds: components["schemas"]["AddedReply"][];
    };
    /** @description The trained model's translation, which every snapshot reads. */
    WrittenReply: {
      text: string;
      tokens: components["schemas"]["TokenReply"][];
    };
    /** @description The task of a model of the zoo, and how its recipe differs from the task's plain model. */
    ZooEntry: {
      /** @description Name in the zoo's table. */
      name: string;
      task: string;
      /** @description Options of the model or of its training, by name; empty for the plain model of a task. */
      changed: {
        [key: string]: string | number;
      };
    };
    /**
     * @description A text of a task with its right answer, and the tokens that determine each part of it.
     *
     * Positions count the tokens of a trace: the source's first is the tag, the target's is `<bos>`.
     */
    ZooExampleReply: {
      task: string;
      source: string;
      target: string;
      /** @description Whether no model has it in its training data. */
      held_out: boolean;
      /** @description For rows of `target` or `source`: the source tokens that determine each part of the answer. */
      looks: {
        [key: string]: {
          [key: string]: number[];
        };
      };
    };
    /** @description A model of the zoo, and how well it learned. */
    ZooModelReply: {
      /** @description As in `/api/models`. */
      id: string;
      name: string;
      task: string;
      /** @description How its recipe differs from the plain recipe of its task. */
      changed: {
        [key: string]: string | number;
      };
      /** @description The shortest and longest training length. */
      trained: [number, number];
      seeds: components["schemas"]["SeedReply"][];
    };
    /** @description The tasks, and the models being served. */
    ZooReply: {
      tasks: components["schemas"]["ZooTaskReply"][];
      models: components["schemas"]["ZooModelReply"][];
    };
    /** @description A task that models of the zoo learn. */
    ZooTaskReply: {
      id: string;
      /** @description Unit of its lengths. */
      unit: string;
      /** @description The shortest length. */
      shortest: number;
      longest: number;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}

export type About = components["schemas"]["About"];
export type Add = components["schemas"]["Add"];
export type AddedReply = components["schemas"]["AddedReply"];
export type AgainstReply = components["schemas"]["AgainstReply"];
export type Aligner = components["schemas"]["Aligner"];
export type AlignerRows = components["schemas"]["AlignerRows"];
export type AnswerReply = components["schemas"]["AnswerReply"];
export type AnswerRequest = components["schemas"]["AnswerRequest"];
export type AnsweredReply = components["schemas"]["AnsweredReply"];
export type AnswersReply = components["schemas"]["AnswersReply"];
export type AnswersSummary = components["schemas"]["AnswersSummary"];
export type ArmComparison = components["schemas"]["ArmComparison"];
export type ArmResults = components["schemas"]["ArmResults"];
export type Asked = components["schemas"]["Asked"];
export type AskedItem = components["schemas"]["AskedItem"];
export type AssignedQuestion = components["schemas"]["AssignedQuestion"];
export type AssignmentCreated = components["schemas"]["AssignmentCreated"];
export type AssignmentRecord = components["schemas"]["AssignmentRecord"];
export type AssignmentReply = components["schemas"]["AssignmentReply"];
export type AssignmentRequest = components["schemas"]["AssignmentRequest"];
export type AttentionInfo = components["schemas"]["AttentionInfo"];
export type Axes = components["schemas"]["Axes"];
export type BeamReply = components["schemas"]["BeamReply"];
export type BegunReply = components["schemas"]["BegunReply"];
export type CandidateReply = components["schemas"]["CandidateReply"];
export type CellsReply = components["schemas"]["CellsReply"];
export type Certainty = components["schemas"]["Certainty"];
export type ChangeReply = components["schemas"]["ChangeReply"];
export type CheckReply = components["schemas"]["CheckReply"];
export type CheckRequest = components["schemas"]["CheckRequest"];
export type ChosenReply = components["schemas"]["ChosenReply"];
export type ClassReply = components["schemas"]["ClassReply"];
export type CollectionCreated = components["schemas"]["CollectionCreated"];
export type CollectionItem = components["schemas"]["CollectionItem"];
export type CollectionReply = components["schemas"]["CollectionReply"];
export type CollectionRequest = components["schemas"]["CollectionRequest"];
export type Cool = components["schemas"]["Cool"];
export type CorpusCreated = components["schemas"]["CorpusCreated"];
export type CorpusReply = components["schemas"]["CorpusReply"];
export type CorpusRequest = components["schemas"]["CorpusRequest"];
export type CostReply = components["schemas"]["CostReply"];
export type Cut = components["schemas"]["Cut"];
export type DecodeEnd = components["schemas"]["DecodeEnd"];
export type DecodeLine = components["schemas"]["DecodeLine"];
export type DecodeOptions = components["schemas"]["DecodeOptions"];
export type DecodeRequest = components["schemas"]["DecodeRequest"];
export type DecodeStart = components["schemas"]["DecodeStart"];
export type DecodeStep = components["schemas"]["DecodeStep"];
export type Difference = components["schemas"]["Difference"];
export type EdgesReply = components["schemas"]["EdgesReply"];
export type EffectSize = components["schemas"]["EffectSize"];
export type ElsewhereReply = components["schemas"]["ElsewhereReply"];
export type ExampleReply = components["schemas"]["ExampleReply"];
export type ExampleRequest = components["schemas"]["ExampleRequest"];
export type Fill = components["schemas"]["Fill"];
export type ForkRequest = components["schemas"]["ForkRequest"];
export type FoundRow = components["schemas"]["FoundRow"];
export type FoundRowsReply = components["schemas"]["FoundRowsReply"];
export type FoundToken = components["schemas"]["FoundToken"];
export type Freeze = components["schemas"]["Freeze"];
export type GalleryReply = components["schemas"]["GalleryReply"];
export type GalleryWork = components["schemas"]["GalleryWork"];
export type Goal = components["schemas"]["Goal"];
export type HeadExample = components["schemas"]["HeadExample"];
export type HeadExamplesReply = components["schemas"]["HeadExamplesReply"];
export type HeadReply = components["schemas"]["HeadReply"];
export type Health = components["schemas"]["Health"];
export type HeldReply = components["schemas"]["HeldReply"];
export type HypothesisReply = components["schemas"]["HypothesisReply"];
export type IndexedSentence = components["schemas"]["IndexedSentence"];
export type InterventionRequest = components["schemas"]["InterventionRequest"];
export type ItemChange = components["schemas"]["ItemChange"];
export type KeepRequest = components["schemas"]["KeepRequest"];
export type KeptItem = components["schemas"]["KeptItem"];
export type KeptReply = components["schemas"]["KeptReply"];
export type LabBody = components["schemas"]["LabBody"];
export type LabReply = components["schemas"]["LabReply"];
export type LabShareState = components["schemas"]["LabShareState"];
export type LabStepReply = components["schemas"]["LabStepReply"];
export type LabTraceReply = components["schemas"]["LabTraceReply"];
export type LearningReply = components["schemas"]["LearningReply"];
export type LinkReply = components["schemas"]["LinkReply"];
export type ListedModelReply = components["schemas"]["ListedModelReply"];
export type Listing = components["schemas"]["Listing"];
export type MaskToken = components["schemas"]["MaskToken"];
export type MeanScore = components["schemas"]["MeanScore"];
export type MemberAnswer = components["schemas"]["MemberAnswer"];
export type MemberReply = components["schemas"]["MemberReply"];
export type MembersReply = components["schemas"]["MembersReply"];
export type MisunderstandingChange = components["schemas"]["MisunderstandingChange"];
export type ModelReply = components["schemas"]["ModelReply"];
export type NetworkInfo = components["schemas"]["NetworkInfo"];
export type OEmbedReply = components["schemas"]["OEmbedReply"];
export type OneHeadReply = components["schemas"]["OneHeadReply"];
export type OneTextDecodeRequest = components["schemas"]["OneTextDecodeRequest"];
export type OneTextOverviewRequest = components["schemas"]["OneTextOverviewRequest"];
export type OneTextReply = components["schemas"]["OneTextReply"];
export type OneTextShareState = components["schemas"]["OneTextShareState"];
export type OneTextSweepRequest = components["schemas"]["OneTextSweepRequest"];
export type OneTextTileRequest = components["schemas"]["OneTextTileRequest"];
export type OneTextTraceRequest = components["schemas"]["OneTextTraceRequest"];
export type OpenQuestion = components["schemas"]["OpenQuestion"];
export type Option = components["schemas"]["Option"];
export type Origin = components["schemas"]["Origin"];
export type OriginReply = components["schemas"]["OriginReply"];
export type OtherRunReply = components["schemas"]["OtherRunReply"];
export type OtherSentence = components["schemas"]["OtherSentence"];
export type OutputReply = components["schemas"]["OutputReply"];
export type OverviewReply = components["schemas"]["OverviewReply"];
export type OverviewRequest = components["schemas"]["OverviewRequest"];
export type PageToRead = components["schemas"]["PageToRead"];
export type ParametersReply = components["schemas"]["ParametersReply"];
export type ParametersRequest = components["schemas"]["ParametersRequest"];
export type ParentReply = components["schemas"]["ParentReply"];
export type ParticipantReply = components["schemas"]["ParticipantReply"];
export type ParticipantRequest = components["schemas"]["ParticipantRequest"];
export type PatchFrom = components["schemas"]["PatchFrom"];
export type PatchSentence = components["schemas"]["PatchSentence"];
export type Picked = components["schemas"]["Picked"];
export type PieceReply = components["schemas"]["PieceReply"];
export type Pointer = components["schemas"]["Pointer"];
export type PositionsReply = components["schemas"]["PositionsReply"];
export type PreparedQuestion = components["schemas"]["PreparedQuestion"];
export type ProbeReply = components["schemas"]["ProbeReply"];
export type ProblemReply = components["schemas"]["ProblemReply"];
export type ProgressReply = components["schemas"]["ProgressReply"];
export type Question = components["schemas"]["Question"];
export type QuestionRecord = components["schemas"]["QuestionRecord"];
export type QuestionReply = components["schemas"]["QuestionReply"];
export type QuestionRequest = components["schemas"]["QuestionRequest"];
export type RangeReply = components["schemas"]["RangeReply"];
export type RateReply = components["schemas"]["RateReply"];
export type ReadReply = components["schemas"]["ReadReply"];
export type Ready = components["schemas"]["Ready"];
export type ReceiverRequest = components["schemas"]["ReceiverRequest"];
export type RecordEntry = components["schemas"]["RecordEntry"];
export type RecordReply = components["schemas"]["RecordReply"];
export type RelativeBody = components["schemas"]["RelativeBody"];
export type RemovalReply = components["schemas"]["RemovalReply"];
export type RemovalRequest = components["schemas"]["RemovalRequest"];
export type Results = components["schemas"]["Results"];
export type RoomCreated = components["schemas"]["RoomCreated"];
export type RoomPatch = components["schemas"]["RoomPatch"];
export type RoomRecord = components["schemas"]["RoomRecord"];
export type RoomReply = components["schemas"]["RoomReply"];
export type RoomRequest = components["schemas"]["RoomRequest"];
export type RoomState = components["schemas"]["RoomState"];
export type RunCreated = components["schemas"]["RunCreated"];
export type RunLine = components["schemas"]["RunLine"];
export type RunOptions = components["schemas"]["RunOptions"];
export type RunPatch = components["schemas"]["RunPatch"];
export type RunReply = components["schemas"]["RunReply"];
export type RunSnapshotReply = components["schemas"]["RunSnapshotReply"];
export type RunStateReply = components["schemas"]["RunStateReply"];
export type RunsReply = components["schemas"]["RunsReply"];
export type Scale = components["schemas"]["Scale"];
export type ScalingReply = components["schemas"]["ScalingReply"];
export type ScalingsReply = components["schemas"]["ScalingsReply"];
export type ScoreChange = components["schemas"]["ScoreChange"];
export type ScoreReply = components["schemas"]["ScoreReply"];
export type SeatReply = components["schemas"]["SeatReply"];
export type SeedReply = components["schemas"]["SeedReply"];
export type SetWeight = components["schemas"]["SetWeight"];
export type ShareCreated = components["schemas"]["ShareCreated"];
export type ShareReply = components["schemas"]["ShareReply"];
export type ShareRequest = components["schemas"]["ShareRequest"];
export type ShareState = components["schemas"]["ShareState"];
export type ShelfEntry = components["schemas"]["ShelfEntry"];
export type ShelfItem = components["schemas"]["ShelfItem"];
export type ShelfReply = components["schemas"]["ShelfReply"];
export type Shuffle = components["schemas"]["Shuffle"];
export type SimilarReply = components["schemas"]["SimilarReply"];
export type SnapshotReply = components["schemas"]["SnapshotReply"];
export type SourceReply = components["schemas"]["SourceReply"];
export type Span = components["schemas"]["Span"];
export type StageRequest = components["schemas"]["StageRequest"];
export type StudentAnswers = components["schemas"]["StudentAnswers"];
export type StudyAnswers = components["schemas"]["StudyAnswers"];
export type StudyArm = components["schemas"]["StudyArm"];
export type StudyPage = components["schemas"]["StudyPage"];
export type StudyReply = components["schemas"]["StudyReply"];
export type StudyRequest = components["schemas"]["StudyRequest"];
export type StudyResults = components["schemas"]["StudyResults"];
export type SubmissionRequest = components["schemas"]["SubmissionRequest"];
export type SummaryReply = components["schemas"]["SummaryReply"];
export type SurveyReply = components["schemas"]["SurveyReply"];
export type SurveyedHeadReply = components["schemas"]["SurveyedHeadReply"];
export type SweepEnd = components["schemas"]["SweepEnd"];
export type SweepLine = components["schemas"]["SweepLine"];
export type SweepReply = components["schemas"]["SweepReply"];
export type SweepRequest = components["schemas"]["SweepRequest"];
export type SweepStart = components["schemas"]["SweepStart"];
export type TaskReply = components["schemas"]["TaskReply"];
export type Taught = components["schemas"]["Taught"];
export type TensorReply = components["schemas"]["TensorReply"];
export type TileEdges = components["schemas"]["TileEdges"];
export type TileReply = components["schemas"]["TileReply"];
export type TileRequest = components["schemas"]["TileRequest"];
export type TimerRequest = components["schemas"]["TimerRequest"];
export type TokenOfSentence = components["schemas"]["TokenOfSentence"];
export type TokenRef = components["schemas"]["TokenRef"];
export type TokenReply = components["schemas"]["TokenReply"];
export type TokensReply = components["schemas"]["TokensReply"];
export type TraceReply = components["schemas"]["TraceReply"];
export type TraceRequest = components["schemas"]["TraceRequest"];
export type Translation = components["schemas"]["Translation"];
export type Truth = components["schemas"]["Truth"];
export type TryReply = components["schemas"]["TryReply"];
export type TryRequest = components["schemas"]["TryRequest"];
export type Verdict = components["schemas"]["Verdict"];
export type Votes = components["schemas"]["Votes"];
export type WallReply = components["schemas"]["WallReply"];
export type WatchedReply = components["schemas"]["WatchedReply"];
export type Window = components["schemas"]["Window"];
export type Wording = components["schemas"]["Wording"];
export type Work = components["schemas"]["Work"];
export type WorkCreated = components["schemas"]["WorkCreated"];
export type WorkRequest = components["schemas"]["WorkRequest"];
export type WritesReply = components["schemas"]["WritesReply"];
export type WrittenReply = components["schemas"]["WrittenReply"];
export type ZooEntry = components["schemas"]["ZooEntry"];
export type ZooExampleReply = components["schemas"]["ZooExampleReply"];
export type ZooModelReply = components["schemas"]["ZooModelReply"];
export type ZooReply = components["schemas"]["ZooReply"];
export type ZooTaskReply = components["schemas"]["ZooTaskReply"];
