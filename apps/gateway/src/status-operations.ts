import { read } from '@parley/core';
import { withoutCodes } from './channel-operations.ts';
import type { GatewayStatus } from './http/api.ts';

interface StatusNeeds {
  status(): Promise<GatewayStatus>;
}

export const operations = {
  report: read(
    'State of the gateway, its channels and its database; codes and settings for owners alone',
    {},
    async ({ status }: StatusNeeds, _, { caller }): Promise<GatewayStatus> => {
      const report = await status();
      if (caller.role === 'owner') return report;
      // A mistake in the settings may be quoted with its value.
      return { ...withoutCodes(report), settings: { afterRestart: [], problems: [] } };
    },
    { role: 'viewer', running: true },
  ),
};
