import { type OwnersChatDeps, ownersChat } from '@parley/channels';
import { literalLine } from '@parley/contracts';
import type { SoulVersion, Store } from '@parley/store';
import type { LocalTime } from '../local-time.ts';
import { type PostDeps, postMessage } from '../posting/post-message.ts';
import { BY_HAND } from './soul-guard.ts';
import type { SoulSettings } from './soul-settings.ts';
import { fenced, findingLines, nextStep, scoreWords, shortDiff } from './soul-words.ts';

/** What telling the owner needs. */
export interface SoulNoticeDeps extends OwnersChatDeps, PostDeps {
  readonly agent: string;
  readonly store: Pick<Store, 'inbox' | 'links' | 'outbox' | 'souls' | 'overheard'>;
  readonly settings: SoulSettings;
  readonly localTime: LocalTime;
}

/**
 * Tells the owner, in the direct chat in which they wrote last, of what has become of SOUL.md: each state
 * once, also after a crash. Whoever has not written yet is told later.
 */
export async function tellOfSoul(deps: SoulNoticeDeps): Promise<void> {
  const { agent, store, clock } = deps;
  const untold = await store.souls.untold(agent);
  if (untold.length === 0) return;
  const chat = await ownersChat(deps);
  for (const version of untold) {
    const words = soulNotice(version, deps);
    if (words !== null) {
      if (chat === null) return;
      const { replyToMessageId: _, ...route } = chat.last.route;
      const key = `soul:${agent}:${version.number}:${version.state}`;
      await postMessage(deps, { key, route, markdown: words, isMarked: true });
      const { channel, account, chatId } = route;
      const { conversationId } = chat;
      // An answer to it is understood.
      const said = { messageId: `post:${key}`, senderId: 'you', senderName: 'you', text: words };
      await store.overheard.keep({ conversationId, channel, account, chatId }, said, clock());
    }
    await store.souls.told(agent, version.number, version.state);
  }
}

/** What the owner is told of a version, in Markdown; null: nothing. */
export function soulNotice(
  version: SoulVersion,
  { settings, localTime }: Pick<SoulNoticeDeps, 'settings' | 'localTime'>,
): string | null {
  const { number, state, by, author } = version;
  const isEdit = author === 'person' && by === BY_HAND;
  const edited = `SOUL.md was edited by hand. I keep the edit as proposal ${number} and go on as I was.`;
  const diff = fenced(shortDiff(version.diff), 'diff');
  switch (state) {
    case 'passed': {
      const what = isEdit
        ? `${edited} It passed the evaluation with ${scoreWords(version)}.`
        : `Proposal ${number} for SOUL.md passed the evaluation with ${scoreWords(version)}.\n\nReason: ${literalLine(version.reason)}`;
      return [what, diff, nextStep(version, settings, localTime)].join('\n\n');
    }
    case 'refused':
      if (!isEdit) return null;
      return [
        `${edited} It did not pass the evaluation (${scoreWords(version)}):`,
        findingLines(version).join('\n'),
        `\`/soul show ${number}\` shows what you wrote.`,
      ].join('\n\n');
    case 'applied':
      return [
        `SOUL.md is version ${number} from now on. Reason: ${literalLine(version.reason)}`,
        diff,
        `Back: \`/soul rollback ${version.basedOn ?? 0}\`.`,
      ].join('\n\n');
    default:
      return null;
  }
}
