import { createServiceCommand } from './service-command.ts';

/** The answer to `/memory` and `/forget` when their service is missing. */
export const NO_MEMORY = 'Memory is switched off in my settings: I save nothing about anyone.';

export const memory = createServiceCommand(
  {
    name: 'memory',
    summary: 'what I know about you',
    takes: '[words]',
    rest: 'text',
    who: 'everyone',
    private: true,
  },
  NO_MEMORY,
);
