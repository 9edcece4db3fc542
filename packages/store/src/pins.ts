import { type Database, fromJson, statement, toJson } from './database.ts';

/** Where a pin belongs: one session of one conversation. */
export interface PinPlace {
  readonly conversationId: string;
  readonly session: number;
}

/** Values that stay what they were for the rest of a session (S07). Written by turns alone. */
/** The table `session_pin`. Nearly every call finds its pin, so reading comes first and takes no write lock. */
export function pinRepository(database: Database) {
  return {
    /**
     * The value under `key`: what was pinned first, or `content` if nothing was. `content` must survive
     * JSON. Pins of earlier sessions of the conversation are removed on the way.
     */
    async fix(
      { conversationId, session }: PinPlace,
      key: string,
      content: unknown,
      now: number,
    ): Promise<unknown> {
      const place = { conversationId, session };
      const pinned = await database.read((sql) => sql.get(PINNED, { ...place, key }));
      if (pinned !== undefined) return fromJson(pinned.content);
      return database.write(async (sql) => {
        sql.send(FORGET_EARLIER, place);
        sql.send(PIN, { ...place, key, content: toJson(content), now });
        const first = await sql.get(PINNED, { ...place, key });
        return first === undefined ? content : fromJson(first.content);
      });
    },
  };
}

const PINNED = statement(`
  select content from session_pin
  where conversation_id = :conversationId and session = :session and pin_key = :key`).rows<{
  readonly content: string;
}>();

const FORGET_EARLIER = statement(
  'delete from session_pin where conversation_id = :conversationId and session < :session',
);

const PIN = statement(`
  insert into session_pin (conversation_id, session, pin_key, content, pinned_at)
  values (:conversationId, :session, :key, :content, :now)
  on conflict (conversation_id, session, pin_key) do nothing`);
