import { change, refusal } from '@parley/core';

interface GatewayNeeds {
  /** Ask this process to start again, or to end. Absent: it cannot. */
  readonly restart?: (() => void) | undefined;
  readonly stop?: (() => void) | undefined;
}

const RUNNING = { running: true } as const;

/** Ending this process: the answer is sent before anything ends. */
export const operations = {
  restart: change(
    'Start the gateway again, for settings that need it (D12)',
    {},
    async ({ restart }: GatewayNeeds) => ended(restart),
    RUNNING,
  ),
  stop: change(
    'End the gateway, for a restore',
    {},
    async ({ stop }: GatewayNeeds) => ended(stop),
    RUNNING,
  ),
};

function ended(end: (() => void) | undefined): { readonly text: string } {
  if (end === undefined) throw refusal('no-end', 'This process cannot end itself. End it by hand.');
  end();
  return { text: 'This process ends now.' };
}
