/** The totals of a run of turns. */
export interface PrivacyTally {
  turns: number;
  /** Turns of agents other than the default agent. */
  others: number;
  /**
   * Turns of the main session, in each of which the private files of the layout were looked for.
   */
  ownerTurns: number;
  /** Private parts that had to be in those turns, and were. */
  privateShown: number;
  /** Public words that guests were shown, which proves that the check read something. */
  publicShown: number;
  /** A group's own memory in its own turns. */
  groupShown: number;
  /** Words that an owner said in one chat and was reminded of in another. */
  remembered: number;
  requests: number;
  toolCalls: number;
  /** Files that contain a word of a private file at the end of their world. */
  laundered: number;
  /** Tool calls that were refused. */
  refused: number;
  /** Runs of turns that ended midway and were restarted. */
  crashes: number;
  /** Messages that were written during a turn, and the messages among them that joined it. */
  late: number;
  joined: number;
  /** One line for each word that reached a reader it was not meant for. */
  readonly leaks: string[];
  /** One line for each private part that its owner was not shown. */
  readonly missing: string[];
}

/** A tally of zeros. */
export function createTally(): PrivacyTally {
  return {
    turns: 0,
    others: 0,
    ownerTurns: 0,
    privateShown: 0,
    publicShown: 0,
    groupShown: 0,
    remembered: 0,
    requests: 0,
    toolCalls: 0,
    laundered: 0,
    refused: 0,
    crashes: 0,
    late: 0,
    joined: 0,
    leaks: [],
    missing: [],
  };
}

/** One readable line. */
export function describeTally(tally: PrivacyTally): string {
  const { turns, others, ownerTurns, privateShown, publicShown, groupShown, remembered } = tally;
  const { requests, toolCalls, laundered, refused, crashes, late, joined, leaks, missing } = tally;
  return [
    `${turns} turns (${others} of other agents, ${ownerTurns} of the owner, ${crashes} started again after a crash)`,
    `${joined} of ${late} messages written meanwhile joined their turn`,
    `${requests} requests read`,
    `${toolCalls} tool calls, ${refused} refused, ${laundered} files with copied private words`,
    `shown: ${privateShown} private parts to the owner, ${groupShown} group memories, ${publicShown} public words to guests, ${remembered} remembered from other chats`,
    `${leaks.length} leaks, ${missing.length} missing`,
  ].join('; ');
}
