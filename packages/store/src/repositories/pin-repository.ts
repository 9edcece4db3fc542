import type { Database, Sql } from '../database.ts';
import { fromJson, toJson } from '../json-column.ts';
import type { PinPlace, PinRepository } from '../pins.ts';

/** Pins on SQL. Nearly every call finds its pin, so reading comes first and takes no write lock. */
export function pinRepository(database: Database): PinRepository {
  return {
    async fix(place, key, content, now) {
      const pinned = await database.read((sql) => pinOf(sql, place, key));
      if (pinned !== undefined) return fromJson(pinned.content);
      return database.write(async (sql) => {
        await sql
          .deleteFrom('session_pin')
          .where('conversation_id', '=', place.conversationId)
          .where('session', '<', place.session)
          .execute();
        await sql
          .insertInto('session_pin')
          .values({
            conversation_id: place.conversationId,
            session: place.session,
            pin_key: key,
            content: toJson(content),
            pinned_at: now,
          })
          .onConflict((conflict) =>
            conflict.columns(['conversation_id', 'session', 'pin_key']).doNothing(),
          )
          .execute();
        const first = await pinOf(sql, place, key);
        return first === undefined ? content : fromJson(first.content);
      });
    },
  };
}

function pinOf(sql: Sql, { conversationId, session }: PinPlace, key: string) {
  return sql
    .selectFrom('session_pin')
    .select('content')
    .where('conversation_id', '=', conversationId)
    .where('session', '=', session)
    .where('pin_key', '=', key)
    .executeTakeFirst();
}
