import type { AdmittedMessage } from '@parley/store';
import type { Albums } from './albums.ts';
import { carryOut } from './carry-out.ts';
import type { IngressDecision } from './decide.ts';
import type { Explainer } from './explain.ts';
import type { IngressDeps } from './ingress-deps.ts';
import type { IngressOutcome } from './outcome.ts';
import { overhear } from './overhear.ts';
import type { Standing } from './standing.ts';

/** What one account remembers between messages, in memory and bounded. */
export interface Memory {
  readonly explain: Explainer;
  readonly albums: Albums;
}

/** A message, what ingress will do with it, and who wrote it. */
export interface Decided {
  readonly admitted: AdmittedMessage;
  readonly decision: IngressDecision;
  readonly standing: Standing;
}

/** Carries a decision out; resolves when the message is durable or refused for good (D01). */
export async function take(
  deps: IngressDeps,
  { admitted, decision, standing }: Decided,
  { explain, albums }: Memory,
): Promise<IngressOutcome> {
  switch (decision.kind) {
    case 'ignore':
      if (decision.overhear) {
        albums.hold(admitted);
        await overhear(deps.store.overheard, admitted);
      }
      return { kind: 'ignored', reason: decision.reason };
    case 'refuse':
      await explainRefusal(deps, admitted, decision.tell, explain);
      return { kind: 'refused', reason: decision.reason };
    case 'command':
      return carryOut(deps, admitted, decision.command, standing);
    case 'turn':
      for (const picture of albums.release(admitted.message)) {
        await acceptPicture(deps, picture, admitted.reason, explain);
      }
      return accept(deps, admitted, explain);
  }
}

/** A picture that came before the words of its album: it is a part of the question after all. */
async function acceptPicture(
  deps: IngressDeps,
  picture: AdmittedMessage,
  reason: string | undefined,
  explain: Explainer,
): Promise<void> {
  const { channel, account, chat, messageId } = picture.message;
  await deps.store.inbox.revise({ channel, account, chatId: chat.id, messageId }, null);
  const message = { ...picture.message, addressed: true };
  await accept(deps, { ...picture, message, ...(reason === undefined ? {} : { reason }) }, explain);
}

async function explainRefusal(
  { rules }: IngressDeps,
  admitted: AdmittedMessage,
  tell: Extract<IngressDecision, { kind: 'refuse' }>['tell'],
  explain: Explainer,
): Promise<void> {
  switch (tell) {
    case 'stranger':
      return explain.stranger(admitted);
    case 'pairing':
      return explain.pairing(admitted);
    case 'too-long':
      return explain.tooLong(admitted, rules.limits.messageCharacters);
    case null:
      return;
  }
}

async function accept(
  deps: IngressDeps,
  admitted: AdmittedMessage,
  explain: Explainer,
): Promise<IngressOutcome> {
  const room = deps.rules.limits.waitingPerConversation;
  const stored = await deps.store.inbox.accept(admitted, room);
  if (stored === 'full') {
    await explain.overflow(admitted, room);
    return { kind: 'refused', reason: `${room} messages of this conversation wait already` };
  }
  deps.pass('inbox-committed');
  // Also for a duplicate: the process may have died between storing and waking the first time.
  await deps.lanes.kick(admitted.conversationId);
  if (stored === 'duplicate') return { kind: 'duplicate' };
  return { kind: 'accepted', conversationId: admitted.conversationId };
}
