/** The turn that asks for a change of an earlier answer. */
export interface Asking {
  /** The conversation is theirs alone, so that all its answers are to them. */
  readonly isAlone: boolean;
  /** The people whose messages the turn answers: Parley's ids, such as `telegram:42`. */
  readonly people: readonly string[];
  readonly owners: readonly string[];
}

/**
 * Whether an answer to these people may be edited or deleted. Guests of a group change the answers to themselves and
 * no others: everyone there takes the bot's words for the bot's. Where several people asked together, each of them
 * must be entitled, as any of them may be the one who wants it. An answer to people who are not known belongs to the
 * owners.
 */
export function mayChangeAnswer(
  { isAlone, people, owners }: Asking,
  answered: readonly string[],
): boolean {
  if (isAlone) return true;
  const guests = people.filter((person) => !owners.includes(person));
  const isAnswerTo = (guest: string) =>
    answered.length > 0 && answered.every((person) => person === guest);
  return people.length > 0 && guests.every(isAnswerTo);
}
