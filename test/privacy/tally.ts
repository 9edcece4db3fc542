/** What a run of turns came to. */
export interface Tally {
  turns: number;
  /** Of agents besides the default one. */
  others: number;
  /** Turns of the main session, in each of which what the layout shows of the private files was looked for. */
  ownerTurns: number;
  /** Private parts that had to be in those turns, and were. */
  privateShown: number;
  /** Words for everyone that guests were shown: what proves that something was looked at. */
  publicShown: number;
  /** A group's own memory in its own turns. */
  groupShown: number;
  /** Words that an owner said in one chat and was reminded of in another. */
  remembered: number;
  requests: number;
  toolCalls: number;
  /** Files that hold a word of a private one at the end of their world: what was really copied. */
  laundered: number;
  /** Tool calls that were answered with a refusal. */
  refused: number;
  /** Runs of turns that ended in the middle and were started again. */
  crashes: number;
  /** Messages that were written during a turn, and those of them that joined it. */
  late: number;
  joined: number;
  /** One line for each word that reached somebody it was not meant for. */
  readonly leaks: string[];
  /** One line for each private part that was not shown to its owner. */
  readonly missing: string[];
}

/** Nothing yet. */
export function emptyTally(): Tally {
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

/** One line for people. */
export function describeTally(tally: Tally): string {
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
