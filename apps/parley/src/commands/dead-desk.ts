import { silentLogger } from '@parley/contracts';
import { createDeadDesk, type DeadDesk, DeadList, DeadOutcome } from '@parley/gateway/dead-desk';
import { ShownLetter } from '@parley/gateway/shown-letter';
import { openStore } from '@parley/store';
import { z } from 'zod';
import { askRunning } from '../ask-gateway.ts';
import type { DataFolder } from '../data-folder.ts';
import { type FoundGateway, findGateway } from '../find-gateway.ts';
import { readSettings } from '../read-settings.ts';

/** Where dead letters are settled: by the gateway that runs, else in the database itself. */
export interface OpenDeadDesk extends AsyncDisposable {
  readonly desk: DeadDesk;
  /** Somebody is here to take up what is replayed at once. */
  readonly isRunning: boolean;
}

/** Finds the gateway of a data folder, or opens its database. */
export async function openDeadDesk(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
): Promise<OpenDeadDesk> {
  const gateway = await findGateway(folder, env);
  if (gateway !== null) {
    return { desk: deskOf(gateway), isRunning: true, [Symbol.asyncDispose]: async () => {} };
  }
  const { settings } = readSettings(folder, env);
  const clock = Date.now;
  const store = await openStore({ url: settings.store.url ?? folder.storeUrl, clock });
  // Whoever starts looks for what is due.
  const desk = createDeadDesk({ store, wake: async () => {}, clock, log: silentLogger });
  return { desk, isRunning: false, [Symbol.asyncDispose]: () => store.close() };
}

const OneLetter = z.object({ letter: ShownLetter.nullable() });

/** The desk of a running gateway. */
function deskOf(gateway: FoundGateway): DeadDesk {
  return {
    list({ before, limit }) {
      const page = before === undefined ? '' : `&before=${before}`;
      return askRunning(gateway, { path: `/api/dead?limit=${limit}${page}`, answer: DeadList });
    },
    async letter(id) {
      const asked = await askRunning(gateway, { path: `/api/dead/${id}`, answer: OneLetter });
      return asked.letter;
    },
    settle: (order) => askRunning(gateway, { path: '/api/dead', body: order, answer: DeadOutcome }),
  };
}
