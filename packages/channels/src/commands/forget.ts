import { NO_MEMORY } from './memory.ts';
import { createServiceCommand } from './service-command.ts';

export const forget = createServiceCommand(
  {
    name: 'forget',
    summary: 'forget what I know',
    takes: 'words',
    rest: 'text',
    who: 'everyone',
    private: true,
    /** The deleted text must not be stored with the command. */
    storedAs: ({ replyTo: _replyTo, ...message }) => ({ ...message, text: '/forget' }),
  },
  NO_MEMORY,
);
