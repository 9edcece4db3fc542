import type { MessageName } from '@parley/contracts';
import type { Database } from '../database.ts';
import type { ChatKey } from '../outbox.ts';
import { type FoundMessage, findMessages, isSame, newestMessages } from '../why/find-message.ts';
import type { MessageFacts } from '../why/message-facts.ts';
import { readMessage } from '../why/read-message.ts';
import { timelineOf } from '../why/timeline-of.ts';
import type { WhyRepository } from '../why.ts';

/** What became of a message, on SQL. */
export function whyRepository(database: Database): WhyRepository {
  return {
    ask: (question, now) =>
      database.read(async (sql) => {
        const found = await findMessages(sql, question);
        const [message, another] = found;
        if (message === undefined) return { kind: 'unknown' };
        if (another !== undefined) {
          return { kind: 'several', candidates: found.map(nameOf) };
        }
        const facts = await readMessage(sql, message);
        if (question.chat !== undefined && !isOfChat(facts, question.chat)) {
          return { kind: 'unknown' };
        }
        return { kind: 'found', timeline: timelineOf(facts, now) };
      }),

    recent: (limit) => database.read(async (sql) => (await newestMessages(sql, limit)).map(nameOf)),
  };
}

function nameOf({ table: _table, seq: _seq, ...name }: FoundMessage): MessageName {
  return name;
}

/** What Parley does on its own is a chat's business only as far as the chat was told of it. */
function isOfChat({ fate }: MessageFacts, chat: ChatKey): boolean {
  if (fate.kind === 'not-taken' || fate.occasion === null || fate.occasion === 'cron') return true;
  return isSame(fate.answeredIn, chat) && fate.parts.some(({ isHere }) => isHere);
}
