import { createRefusalError, defineChangeOperation } from '@parley/core';

interface GatewayOperationDeps {
  /** Asks this process to restart or to exit; absent if the process cannot do this. */
  readonly restart?: (() => void) | undefined;
  readonly stop?: (() => void) | undefined;
}

const RUNNING = { running: true } as const;

/** Operations that end this process after sending the response. */
export const operations = {
  restart: defineChangeOperation(
    'Restart the gateway, for example for settings that need a restart (D12)',
    {},
    async ({ restart }: GatewayOperationDeps) => shutDownProcess(restart),
    RUNNING,
  ),
  stop: defineChangeOperation(
    'Shut the gateway down so that a backup can be restored',
    {},
    async ({ stop }: GatewayOperationDeps) => shutDownProcess(stop),
    RUNNING,
  ),
};

function shutDownProcess(end: (() => void) | undefined): { readonly text: string } {
  if (end === undefined)
    throw createRefusalError('no-end', 'This process cannot end itself. Stop it manually.');
  end();
  return { text: 'This process is shutting down.' };
}
