import type { InboxRow } from './rows.ts';

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

/** Whose messages are forgotten, whatever they say. */
export interface PersonForgetting {
  /** Parley's ids (`telegram:42`) of all their accounts. */
  readonly persons: readonly string[];
  /** They are an owner: what any owner wrote alone with the agent is theirs. */
  readonly ownersToo: boolean;
  /** The one conversation that is meant; null: every one in which they wrote. */
  readonly only: string | null;
  readonly mark: string;
  /** In ms. */
  readonly now: number;
  /** Called before anything is removed, for each lane whose turn was stopped: its worker does not know yet. */
  onStopped(conversationId: string): void;
  /** What the history keeps of a turn to which others wrote, too: their messages. */
  retell(messages: readonly InboxRow[]): unknown;
}

/** What was removed. */
export interface PersonForgotten {
  /** Conversations that are empty now, and groups in which others keep what they said. */
  readonly whole: number;
  readonly groups: number;
  /** Messages of the person, without their text now; the files that came with them are gone. */
  readonly messages: number;
  /** All other rows that were removed or emptied: history, answers, steps, summaries, prompts … */
  readonly rows: number;
  readonly cronJobs: number;
  /** The longest of the texts, to look for. */
  readonly samples: readonly string[];
}

/** What looking through the bytes of the database has shown; null where they lie with a server. */
export interface RawSearch {
  /** How many of the texts still stand somewhere. */
  readonly found: number;
  /** False: the files are larger than what was read of them. */
  readonly complete: boolean;
}

/** Takes words, or all that a person has said, out of everything the database keeps of conversations (G15). */
export interface ForgettingRepository {
  /** Changes what is stored; what is stored meanwhile may still hold the words. */
  forget(forgetting: Forgetting): Promise<Forgotten>;
  /**
   * Stops what runs for a person, then forgets all they have said. Direct chats are emptied. In groups their
   * messages, the answers to them and everything that mixes voices (summaries, recorded prompts, steps) go,
   * and what others said stays. In short transactions, so that others hardly wait.
   */
  forgetPerson(forgetting: PersonForgetting): Promise<PersonForgotten>;
  /** Looks for texts in the files of the database, byte by byte: in what is stored and in what was given free. */
  searchFiles(texts: readonly string[]): Promise<RawSearch | null>;
}
