import { change, createRefusal } from '@parley/core';

interface GatewayNeeds {
  /** Asks this process to restart or to exit; absent if the process cannot do this. */
  readonly restart?: (() => void) | undefined;
  readonly stop?: (() => void) | undefined;
}

const RUNNING = { running: true } as const;

/** Operations that end this process after sending the response. */
export const operations = {
  restart: change(
    'Restart the gateway, for example for settings that need a restart (D12)',
    {},
    async ({ restart }: GatewayNeeds) => requireEnd(restart),
    RUNNING,
  ),
  stop: change(
    'Shut the gateway down so that a backup can be restored',
    {},
    async ({ stop }: GatewayNeeds) => requireEnd(stop),
    RUNNING,
  ),
};

function requireEnd(end: (() => void) | undefined): { readonly text: string } {
  if (end === undefined)
    throw createRefusal('no-end', 'This process cannot end itself. Stop it manually.');
  end();
  return { text: 'This process is shutting down.' };
}
