/**
 * The rules of the lane and the outbox by number, as in `lane-and-outbox.qnt`; README.md explains
 * them.
 */
export const RULES = {
  0: 'a row changes from the state that it had',
  1: 'a conversation has at most one running turn',
  2: 'an epoch never falls, and a lane changes hands only with a higher one',
  3: 'only the worker that raised the epoch last writes for a conversation',
  4: 'a turn takes the oldest waiting messages, without a gap',
  5: 'an accepted message waits, is claimed by a running turn, or is done',
  6: 'a turn that has ended stays so',
  7: 'a turn is started a bounded number of times',
  8: 'the parts of a chat are sent in order',
  9: 'a part is kept until it is sent or given up, and a sent one stays sent',
  10: 'the parts of an answer are stored with the end of its turn',
  11: 'a part is marked before the platform gets it',
  12: 'a part is shown once, unless a person asks for it again',
  13: 'what is given up has a dead letter',
} as const;

export type RuleNumber = keyof typeof RULES;

/** A violation of a rule. */
export interface RuleViolation {
  readonly rule: RuleNumber;
  readonly what: string;
}
