import { z } from 'zod';

/** `-5` is a number to YAML, and text to everything else. */
const PlatformId = z.union([z.string().min(1), z.int()]).transform(String);

const NamedChat = z.strictObject({
  channel: z.string().min(1).describe('Such as telegram.'),
  account: z.string().min(1).default('default').describe('Where a channel has several.'),
  chat: PlatformId.describe('Its id on the platform; /whoami tells it there.'),
  thread: PlatformId.optional().describe('A topic or thread of it.'),
});

const Message = z
  .strictObject({
    chats: z
      .record(
        z
          .string()
          .regex(/^[a-z0-9][a-z0-9_-]{0,39}$/i, 'letters, digits, _ and -, at most 40')
          .refine((name) => name !== 'owner', 'another name: owner is the owner’s own chat'),
        NamedChat,
      )
      .default({})
      .describe('Chats it may write to, by the names it calls them. A person reads it first.'),
  })
  .prefault({})
  .describe('Writing to another chat, when its owner asks: their own chats, and those named here.');

/** Which tools the agent has, and the bounds of one call (G02). */
export const Tools = z
  .strictObject({
    allow: z.array(z.string().min(1)).optional().describe('Only these; without it all.'),
    block: z.array(z.string().min(1)).default([]).describe('Never these, even if allowed.'),
    message: Message,
    maxSeconds: z
      .number()
      .positive()
      .max(3_600)
      .default(60)
      .describe('How long one call of a tool may take.'),
    maxCharacters: z
      .int()
      .min(500)
      .max(1_000_000)
      .default(20_000)
      .describe('What the model is shown of one result, in characters.'),
  })
  .prefault({})
  .describe('What the agent can do besides answering.');

/** `tool`, or `tool:pattern`. */
const AutoRule = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}(:.+)?$/, 'a tool, or tool:pattern, such as exec:git status*');

/** Which calls of tools need a person's yes, and whose (G05). */
export const Approvals = z
  .strictObject({
    ask: z
      .array(z.string().min(1))
      .default([])
      .describe('Tools that need a yes besides those that ask for one themselves.'),
    auto: z
      .array(AutoRule)
      .default([])
      .describe(
        'What needs none: tools, or tool:pattern for the first argument, where * stands for harmless characters.',
      ),
    approvers: z
      .array(
        z
          .string({ error: 'channel:userId without a space, such as telegram:123456789' })
          .regex(/^[a-z][a-z0-9-]*:\S+$/, 'channel:userId, such as telegram:123456789'),
      )
      .default([])
      .describe('Who may decide besides owners.'),
    waitMinutes: z
      .number()
      .positive()
      .max(7 * 24 * 60)
      .default(15)
      .describe('After this a question counts as refused.'),
  })
  .prefault({})
  .describe('Tools that are run only when a person says yes.');

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

const Fetch = z
  .strictObject({
    enabled: z.boolean().default(true).describe('false: the agent reads no pages.'),
    approval: z
      .enum(['never', 'after-foreign-words', 'unknown', 'always'])
      .default('after-foreign-words')
      .describe(
        'When somebody has to say yes: never; to addresses that nobody wrote, no search found and no page of the same site links to, once words of outsiders were read in the turn; in an owner’s direct chat to addresses that nobody wrote and no search found; or to every page.',
      ),
    ports: z
      .array(z.int().min(1).max(65_535))
      .min(1)
      .default([80, 443])
      .describe('Ports of the public internet that are asked.'),
    seconds: z.int().min(1).max(60).default(20).describe('How long a page may take to come.'),
    maxMb: z.number().positive().max(50).default(5).describe('Largest page, in megabytes.'),
    maxCharacters: z
      .int()
      .min(500)
      .max(200_000)
      .default(15_000)
      .describe('What the model is shown of a page at a time.'),
  })
  .prefault({})
  .describe('Pages as text. Private addresses are never asked, whatever stands here.');

const WebAddress = z.url({
  protocol: /^https?$/,
  error: 'a web address, such as http://127.0.0.1:8080',
});

const Search = z
  .strictObject({
    results: z.int().min(1).max(20).default(6).describe('How many the model is shown.'),
    searxng: z
      .strictObject({
        baseUrl: WebAddress.describe('Of an instance that has json in search.formats.'),
        language: z.string().min(2).max(20).optional().describe('Such as de or zh-CN.'),
      })
      .optional()
      .describe('A search engine that you can run yourself; asked first.'),
    brave: z
      .strictObject({ apiKey: z.string().min(1), baseUrl: WebAddress.optional() })
      .optional()
      .describe('Brave Search; asked where there is no SearXNG, or it fails.'),
  })
  .prefault({})
  .describe('Search engines; without one the agent cannot search.');

/** What the agent may read on the web (G02, G06). */
export const Web = z
  .strictObject({ fetch: Fetch, search: Search })
  .prefault({})
  .describe('The web.');
export type Web = z.infer<typeof Web>;

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
