import { createServiceCommand } from './service-command.ts';

export const soul = createServiceCommand(
  {
    name: 'soul',
    summary: 'who I am, and proposals to change that',
    takes: '[proposal]',
    rest: 'argument',
    who: 'owner',
    where: 'direct',
    private: true,
  },
  'SOUL.md is not available here.',
);
