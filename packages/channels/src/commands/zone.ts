import { createServiceCommand } from './service-command.ts';

export const zone = createServiceCommand(
  {
    name: 'zone',
    summary: 'decide about jobs from an earlier time zone',
    takes: 'move or keep',
    rest: 'argument',
    who: 'owner',
    private: true,
    unlisted: true,
  },
  'Jobs are not available here.',
);
