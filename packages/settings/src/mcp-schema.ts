import { z } from 'zod';

const Words = z.string().min(1);

const ToolNames = z
  .strictObject({
    allow: z.array(Words).optional().describe('Only these; without it all.'),
    block: z.array(Words).default([]).describe('Never these, even if allowed.'),
  })
  .prefault({})
  .describe('Which tools of the server are taken, by the names that the server gives them.');

const Server = z
  .strictObject({
    command: Words.optional().describe('The program to start; it is spoken to over stdin, stdout.'),
    args: z.array(z.string()).default([]).describe('For the program.'),
    env: z
      .record(z.string().regex(/^\w+$/, 'letters, digits and _'), z.string())
      .default({})
      .describe('All that the program gets from the environment, besides PATH, HOME and LANG.'),
    cwd: Words.optional().describe('The folder it is started in.'),
    url: z
      .url({ protocol: /^https?$/, error: 'a web address, such as http://127.0.0.1:3000/mcp' })
      .optional()
      .describe('Of a server that is spoken to over HTTP, instead of a program.'),
    headers: z.record(Words, z.string()).default({}).describe('Sent with every request to it.'),
    tools: ToolNames,
    audience: z
      .enum(['owner', 'everyone'])
      .default('owner')
      .describe('owner: in direct chats with an owner alone. everyone: in all chats.'),
    approval: z
      .enum(['never', 'ask'])
      .optional()
      .describe(
        'Whether somebody has to say yes to each call; without it never for tools that say they only read, else ask.',
      ),
    connector: z
      .string()
      .min(1)
      .max(4_000)
      .optional()
      .describe('What the agent is told of it while it is connected.'),
    timeoutMs: z
      .int()
      .min(100)
      .max(3_600_000)
      .default(60_000)
      .describe('How long one call may take, in milliseconds; tools.maxSeconds holds, too.'),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    error: 'either command (a program) or url (a server elsewhere), and not both',
  });

/** The MCP servers of an installation by name (G03); none of them costs anything unless it is there. */
export const Mcp = z
  .record(
    z
      .string()
      .regex(/^[a-z][a-z0-9]{0,23}$/, 'small letters and digits, at most 24, a letter first'),
    Server,
  )
  .default({})
  .describe('Servers of the Model Context Protocol: more tools, and prompts that people can pick.');
