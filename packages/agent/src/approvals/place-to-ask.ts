import type { ReplyRoute } from '@parley/contracts';
import type { ClaimedTurn, InboxRow, NewApproval, NewPart, Store } from '@parley/store';
import { leadingMessage } from '../turn-opening.ts';
import type { ApprovalRules } from './approval-policy.ts';
import { questionText, waitingText } from './approval-words.ts';
import { noticeParts, questionParts } from './ask-parts.ts';

/** Where a question is put. */
export interface AskedPlace {
  readonly route: ReplyRoute;
  /** Of that chat: the question is decided there alone. */
  readonly conversationId: string;
  /** Whoever reads it there may decide it. */
  readonly toDecider: boolean;
  /** Set where somebody else asked: who, and where they are told that they have to wait. */
  readonly onBehalf?: { readonly who: string; readonly route: ReplyRoute };
}

/** What finding the place needs. */
export interface PlaceDeps {
  readonly store: Pick<Store, 'inbox'>;
  readonly rules: Pick<ApprovalRules, 'approvers'>;
  readonly owners: readonly string[];
}

/**
 * Where a turn asks: where it answers, as a rule. Somebody who may not decide and is alone with the
 * agent could ask nobody there, so an owner is asked in the chat they used last; null when no owner has one.
 */
export async function placeToAsk(deps: PlaceDeps, turn: ClaimedTurn): Promise<AskedPlace | null> {
  const leading = leadingMessage(turn);
  const { message, route } = leading;
  const here = { route, conversationId: turn.conversationId };
  if (message.chat.type !== 'direct') return { ...here, toDecider: false };
  if (mayDecide(leading, deps)) return { ...here, toDecider: true };
  const chats = await deps.store.inbox.ownerChats();
  const owners = chats.find((row) => deps.owners.includes(personOf(row)));
  if (owners === undefined) return null;
  const who = `\`${personOf(leading).replaceAll('`', '')}\``;
  const { conversationId } = owners;
  return { route: owners.route, conversationId, toDecider: true, onBehalf: { who, route } };
}

function mayDecide(row: InboxRow, { owners, rules }: PlaceDeps): boolean {
  const person = personOf(row);
  // An account that an owner linked is an owner's, too: ingress has said so (F13).
  return row.fromOwner === true || owners.includes(person) || rules.approvers.includes(person);
}

function personOf({ message }: InboxRow): string {
  return `${message.channel}:${message.sender.id}`;
}

/** All messages that put a question; null where it is too long for the platform. */
export async function questionFor(
  { tool, shown, code }: Pick<NewApproval, 'tool' | 'shown' | 'code'>,
  { route, toDecider, onBehalf }: AskedPlace,
  waitMs: number,
): Promise<readonly NewPart[] | null> {
  const who = onBehalf?.who;
  const text = questionText({
    ...{ tool, shown, code, waitMs, toDecider },
    ...(who !== undefined && { who }),
  });
  const question = await questionParts(text, route, code);
  if (question === null || onBehalf === undefined) return question;
  return [...question, ...(await noticeParts(waitingText(waitMs), onBehalf.route))];
}
