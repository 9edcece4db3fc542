import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Deployment, EMBEDDED_FOLDERS } from './deployment.ts';
import { SupervisedProcess } from './kept-alive.ts';
import {
  ENDED,
  GIVEN_UP,
  MAX_BEGUN,
  readCount,
  readEnded,
  type StoredQueries,
  UNFINISHED,
} from './stored.ts';
import type { VictimReport } from './victim-order.ts';

/** All of Parley in one process, with its tables in one file. */
export function openEmbedded(
  root: string,
  settings: object,
  hear: (report: VictimReport) => void,
): Deployment {
  const [name] = EMBEDDED_FOLDERS;
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  // JSON is valid YAML.
  writeFileSync(join(folder, 'parley.yaml'), JSON.stringify(settings));
  const parley = new SupervisedProcess(name, { folder, role: 'all' }, hear);
  return {
    name: 'embedded',
    processes: [parley],
    servers: [],
    stored: createStoredQueries(join(folder, 'parley.db')),
    close: async () => parley.abandon(),
  };
}

function createStoredQueries(file: string): StoredQueries {
  const count = async (sql: string): Promise<number> => {
    if (!existsSync(file)) return 0;
    return runQuery(file, (database) => readCount(database.prepare(sql).get()));
  };
  return {
    unfinished: () => count(UNFINISHED),
    mostBegun: () => count(MAX_BEGUN),
    givenUp: () => count(GIVEN_UP),
    endedParts: async () => runQuery(file, (database) => readEnded(database.prepare(ENDED).all())),
  };
}

/**
 * Opened and closed for each query, because an open connection would keep the log files of a killed
 * process in use, so the restarted process would not have to recover.
 */
function runQuery<T>(file: string, ask: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  try {
    return ask(database);
  } finally {
    database.close();
  }
}
