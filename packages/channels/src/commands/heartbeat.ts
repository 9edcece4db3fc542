import { createServiceCommand } from './service-command.ts';

export const heartbeat = createServiceCommand(
  {
    name: 'heartbeat',
    summary: 'my standing tasks; `now` runs one',
    takes: '[now]',
    rest: 'argument',
    who: 'owner',
    private: true,
  },
  'Standing tasks are not available here.',
);
