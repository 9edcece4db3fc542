import { type ClaimedTurn, goesToSamePlace, type InboxRow } from '@parley/store';
import { leadingMessage } from '../turn-facts.ts';

/**
 * Whether a message that came during a turn may join it (D03). Whatever a turn may do and show was decided
 * from the messages it began with, so only the same person in the same place adds to it, in words alone:
 * files, commands and what Parley itself says wait for a turn of their own.
 */
export function mayJoin(turn: ClaimedTurn, row: InboxRow): boolean {
  const leading = leadingMessage(turn);
  const { message } = row;
  return (
    turn.messages.every((one) => one.message.occasion === undefined) &&
    message.occasion === undefined &&
    goesToSamePlace(row.route, leading.route) &&
    placeOf(row) === placeOf(leading) &&
    row.fromOwner === leading.fromOwner &&
    message.attachments === undefined &&
    !message.text.trimStart().startsWith('/')
  );
}

/** Who wrote where, and with which variables: all that the facts of a turn say of its message. */
function placeOf({ message: { channel, account, chat, sender, variables } }: InboxRow): string {
  const said = Object.entries(variables).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([channel, account, chat.id, chat.type, chat.threadId, sender.id, said]);
}
