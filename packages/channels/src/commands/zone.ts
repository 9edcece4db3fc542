import { serviceCommand } from './service-command.ts';

export const zone = serviceCommand(
  {
    name: 'zone',
    summary: 'decide about jobs of an earlier time zone',
    takes: 'move or keep',
    rest: 'argument',
    who: 'owner',
    private: true,
    unlisted: true,
  },
  'Jobs are not available here.',
);
