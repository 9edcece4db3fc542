import type { RuleNumber } from './rules.ts';

/** A wrong line of the model, the rule it breaks, and its effect in a trace of the tables. */
export interface PlantedFault {
  readonly name: string;
  /** Text that must occur exactly once in the model. */
  readonly find: string;
  readonly instead: string;
  /** The rules of the model; a simulated run breaks one of them first. */
  readonly breaks: readonly RuleNumber[];
  /** The rules by which the trace checker detects the same run. */
  readonly shows: readonly RuleNumber[];
}

const MARK = `synced(gateway, mine.epoch, mark(tables, part, mine.epoch)),
      sends(gateway, { ...mine, part: part, phase: "marked" })`;

/** Faults that every test run looks for. */
export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: 'a commit is not fenced',
    find: 'if (mine.epoch == tables.lanes.get(mine.chat).epoch) all {',
    instead: 'if (true) all {',
    breaks: [3],
    shows: [3],
  },
  {
    name: 'a part may overtake an earlier one',
    find: ' and isFirst(t, part)\n',
    instead: '\n',
    breaks: [8],
    shows: [8],
  },
  {
    name: 'an accepted message is not synced',
    find: 'synced(gateway, -1, { ...tables, messages: tables.messages.put',
    instead: 'notSynced(gateway, -1, { ...tables, messages: tables.messages.put',
    breaks: [5],
    shows: [5],
  },
  {
    name: 'an uncertain part is sent again without a key',
    find: '(mine.phase == "unclear" and hasKey(tables.parts.get(mine.part).chat))',
    instead: 'mine.phase == "unclear"',
    breaks: [11],
    shows: [11],
  },
];

/** Faults that only the nightly run adds. */
export const MORE_PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: 'a lease is taken under the old epoch',
    find: '{ epoch: lease.epoch + 1, holder: process',
    instead: '{ epoch: lease.epoch, holder: process',
    breaks: [2],
    shows: [2],
  },
  {
    name: 'a claim begins a second turn',
    find: 'val turn = least(running(dropped, chat))',
    instead: 'val turn = 0',
    breaks: [1],
    shows: [1],
  },
  {
    name: 'a turn takes the newest messages',
    find: 'waiting.filter(m => waiting.filter(other => other < m)',
    instead: 'waiting.filter(m => waiting.filter(other => other > m)',
    breaks: [4],
    shows: [4],
  },
  {
    name: 'a mark is not synced',
    find: MARK,
    instead: MARK.replace('synced', 'notSynced'),
    breaks: [11],
    shows: [9],
  },
  {
    name: 'the platform is called without a mark',
    find: MARK,
    instead: MARK.replace(
      'synced(gateway, mine.epoch, mark(tables, part, mine.epoch))',
      'unseen(gateway)',
    ),
    breaks: [11],
    shows: [11],
  },
  {
    name: 'an answer is not synced',
    find: 'NO_WORK else { ...mine, turn: 0 }, true)',
    instead: 'NO_WORK else { ...mine, turn: 0 }, false)',
    breaks: [5, 6, 9],
    shows: [5, 6, 9],
  },
  {
    name: 'a repetition has another key',
    find: 'keyOf(sending: Sending): int = sending.part',
    instead: 'keyOf(sending: Sending): int = sending.part * 100 + sending.epoch',
    breaks: [8, 12],
    shows: [12],
  },
  {
    name: 'a failed turn has no dead letter',
    find: 'if (state == "failed") { ...closed',
    instead: 'if (state == "never") { ...closed',
    breaks: [5],
    shows: [13],
  },
  {
    name: 'a part that is given up has no dead letter',
    find: '{ ...given, letters: given.letters.union(Set(("part", part))) }',
    instead: 'given',
    breaks: [13],
    shows: [13],
  },
  {
    name: 'a turn is started for ever',
    find: '.attempts >= DROP_AT)',
    instead: '.attempts >= 100)',
    breaks: [7],
    shows: [7],
  },
  {
    name: 'an answer leaves its messages claimed',
    find: '"answered", "done")',
    instead: '"answered", "claimed")',
    breaks: [5],
    shows: [5],
  },
  {
    name: 'an interruption closes the messages',
    find: '"interrupted", "waiting")',
    instead: '"interrupted", "done")',
    breaks: [5],
    shows: [5],
  },
];

/**
 * Returns the text of a model with this fault. Throws unless the line occurs exactly once, so that
 * no fault is skipped silently.
 */
export function plantFault(model: string, { name, find, instead }: PlantedFault): string {
  const [before, after, ...more] = model.split(find);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(
      `The model has ${more.length + (after === undefined ? 0 : 1)} places for the fault "${name}".`,
    );
  }
  return `${before}${instead}${after}`;
}
