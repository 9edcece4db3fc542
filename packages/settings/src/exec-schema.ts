import { z } from 'zod';

/** Commands of the shell, in a sandbox, for owners alone (G06). Off unless switched on. */
export const Exec = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe('true: owners can have commands run in direct chats. Needs bubblewrap, on Linux.'),
    approval: z
      .enum(['ask', 'never'])
      .default('ask')
      .describe('ask: somebody has to say yes to each command.'),
    network: z
      .boolean()
      .default(false)
      .describe('true: commands reach the network, and with it all servers of this machine.'),
    seconds: z
      .int()
      .min(1)
      .max(600)
      .default(60)
      .describe('How long a command may take, unless the model asks for more.'),
    maxSeconds: z
      .int()
      .min(1)
      .max(600)
      .default(600)
      .describe('More than this the model cannot ask for.'),
    maxCharacters: z
      .int()
      .min(1_000)
      .max(200_000)
      .default(30_000)
      .describe('What the model is shown of the output: its start and its end.'),
    processes: z.int().min(4).max(4_096).default(128).describe('At a time.'),
    memoryMb: z.int().min(64).default(1_000).describe('Of all processes together, in megabytes.'),
    diskMb: z
      .int()
      .min(1)
      .default(2_000)
      .describe('All that one command writes to the workspace together, in megabytes.'),
  })
  .prefault({})
  .describe('Commands that the agent runs; they see the workspace and nothing else.');
export type Exec = z.infer<typeof Exec>;
