/** What is to be forgotten, and where. */
export interface Forgetting {
  /** Conversations whose rows are changed; all in which an owner wrote directly, with `ownersToo`. */
  readonly conversations: readonly string[];
  readonly ownersToo: boolean;
  /** Exact words; case does not matter. Each place where they stand gets `mark`. */
  readonly words: readonly string[];
  readonly mark: string;
}

/** How many rows were changed, by what they are. */
export interface Forgotten {
  /** The history that the model is shown. */
  readonly history: number;
  /** Messages as they came in, and what was overheard. */
  readonly messages: number;
  /** Answers as they were sent. */
  readonly answers: number;
  /** Steps of turns: calls of tools and their results. */
  readonly steps: number;
  /** What was kept beside it: notes and summaries of sessions, to-dos, jobs, tasks, questions for a yes. */
  readonly pins: number;
  /** Recorded prompts of past turns. */
  readonly prompts: number;
  /** Copies of sent messages that adapters keep to send them once more; dropped as a whole. */
  readonly copies: number;
}

/** Takes words out of everything the database keeps of conversations (G15). */
export interface ForgettingRepository {
  /** Changes what is stored; what is stored meanwhile may still hold the words. */
  forget(forgetting: Forgetting): Promise<Forgotten>;
}
