import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountStatus, Gateway } from '@parley/gateway';

/** How long the start banner waits for channels that are still connecting, in ms. */
const PATIENCE_MS = 500;
const LOOK_EVERY_MS = 20;

/** The states of all channels, as soon as none is still connecting or patience ends. */
export async function firstStates(
  gateway: Pick<Gateway, 'status'>,
): Promise<readonly AccountStatus[]> {
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_EVERY_MS) {
    if (gateway.status().every(({ state }) => state.kind !== 'starting')) break;
    await sleep(LOOK_EVERY_MS);
  }
  return gateway.status();
}
