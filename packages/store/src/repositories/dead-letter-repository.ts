import type { Database } from '../database.ts';
import type { DeadLetterRepository } from '../dead-letters.ts';

/** Dead letters on SQL. Their queries are loaded when somebody looks at them: that is seldom. */
export function deadLetterRepository(database: Database): DeadLetterRepository {
  const looking = () => import('./dead-letter-lookups.ts');
  const settling = () => import('./replay-dead-letter.ts');
  return {
    async open(page) {
      const { openLetters } = await looking();
      return database.read((sql) => openLetters(sql, page));
    },
    async openIds(kinds, after, limit) {
      const { openIds } = await looking();
      return database.read((sql) => openIds(sql, kinds, after, limit));
    },
    async get(id) {
      const { oneLetter } = await looking();
      return database.read((sql) => oneLetter(sql, id));
    },
    async counts() {
      const { countOpen } = await looking();
      return database.read(countOpen);
    },
    async replay(id, how, now) {
      const { replayLetter } = await settling();
      return database.write((sql) => replayLetter(database, sql, { id, how, now }));
    },
    async drop(id, now) {
      const { dropLetter } = await settling();
      return database.write((sql) => dropLetter(sql, id, now));
    },
  };
}
