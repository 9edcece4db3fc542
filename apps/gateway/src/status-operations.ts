import { defineReadOperation } from '@parley/core';
import { removeLinkingCodes } from './channel-operations.ts';
import type { GatewayStatus } from './http/api.ts';

interface StatusOperationDeps {
  status(): Promise<GatewayStatus>;
}

export const operations = {
  report: defineReadOperation(
    'Show the state of the gateway, its channels and its database; only owners see codes and settings',
    {},
    async ({ status }: StatusOperationDeps, _, { caller }): Promise<GatewayStatus> => {
      const report = await status();
      if (caller.role === 'owner') return report;
      // Problems in the settings may quote private values, so they are omitted.
      return { ...removeLinkingCodes(report), settings: { afterRestart: [], problems: [] } };
    },
    { role: 'viewer', running: true },
  ),
};
