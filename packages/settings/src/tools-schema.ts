import { z } from 'zod';
import { defineChoice, defineSection, flag, numberField, Person, wholeNumber } from './fields.ts';

/** YAML parses `-5` as a number, but all other code treats it as text. */
const PlatformId = z.union([z.string().min(1), z.int()]).transform(String);

const NamedChat = z.strictObject({
  channel: z.string().min(1).describe('Such as telegram.'),
  account: z
    .string()
    .min(1)
    .default('default')
    .describe('The bot account, if a channel has several.'),
  chat: PlatformId.describe(
    'The id of the chat on the platform, as shown by /whoami in that chat.',
  ),
  thread: PlatformId.optional().describe('A topic or thread in that chat.'),
});

const Message = defineSection(
  "Writing to other chats when an owner asks for it: to the owner's own chats, and to the chats named here.",
  {
    chats: z
      .record(
        z
          .string()
          .regex(/^[a-z0-9][a-z0-9_-]{0,39}$/i, 'letters, digits, _ and -, at most 40')
          .refine(
            (name) => name !== 'owner',
            'another name: owner is reserved for the owner’s own chat',
          ),
        NamedChat,
      )
      .default({})
      .describe(
        'Chats to which the agent may write, by the names that it uses for them. A person approves each message first.',
      ),
  },
);

/** `tools`: the agent's tools, and the limits for one call (G02). */
export const Tools = defineSection('What the agent can do besides answering.', {
  allow: z.array(z.string().min(1)).optional().describe('Only these tools. Default: all tools.'),
  block: z
    .array(z.string().min(1))
    .default([])
    .describe('Tools that are never used, even if allowed.'),
  offer: z
    .enum(['by-need', 'all'])
    .optional()
    .describe(
      'by-need: rarely used tools are offered in groups, which the agent opens for the rest of a conversation when it needs them; this saves tokens. all: every tool in every request. Default: by-need in the layout parley, all in the other layouts.',
    ),
  message: Message,
  maxSeconds: numberField(
    { above: 0, max: 3_600, default: 60 },
    'Maximum duration of one tool call.',
  ),
  maxCharacters: wholeNumber(
    { min: 500, max: 1_000_000, default: 20_000 },
    'Maximum number of characters from one result that the model is shown.',
  ),
});

/** A rule `tool` or `tool:pattern`, in which only `*` has a special meaning. */
const AutoRule = z
  .string()
  .max(500, 'a rule of at most 500 characters')
  .regex(
    /^[a-z][a-z0-9_]{0,63}(:.+)?$/,
    'a tool, or tool:pattern on a single line, such as exec:git status*',
  );

/** `approvals`: which tool calls need approval, and from whom (G05). */
export const Approvals = defineSection('Tools that run only when a person approves the call.', {
  ask: z
    .array(z.string().min(1))
    .default([])
    .describe('Tools that need approval, in addition to those that ask for it themselves.'),
  auto: z
    .array(AutoRule)
    .default([])
    .describe(
      'Calls that do not need approval: tools, or tool:pattern for the first argument, where * matches harmless characters.',
    ),
  approvers: z.array(Person).default([]).describe('People who may decide in addition to owners.'),
  waitMinutes: numberField(
    { above: 0, max: 7 * 24 * 60, default: 15 },
    'A question counts as denied if nobody decides within this time.',
  ),
});

/** `tools.exec`: sandboxed shell commands, only for owners (G06); off by default. */
export const Exec = defineSection(
  'Shell commands that the agent runs with access only to the workspace.',
  {
    enabled: flag(
      false,
      'true: owners can have commands run in direct chats. Requires bubblewrap on Linux.',
    ),
    approval: defineChoice(['ask', 'never'], 'ask: each command needs approval.'),
    network: flag(
      false,
      'true: commands can access the network, including all servers on this machine.',
    ),
    seconds: wholeNumber(
      { min: 1, max: 600, default: 60 },
      'Default time limit for a command, unless the model asks for more.',
    ),
    maxSeconds: wholeNumber(
      { min: 1, max: 600, default: 600 },
      'Maximum time limit that the model can ask for.',
    ),
    maxCharacters: wholeNumber(
      { min: 1_000, max: 200_000, default: 30_000 },
      'Maximum number of characters from the output that the model is shown: its beginning and its end.',
    ),
    processes: wholeNumber({ min: 4, max: 4_096, default: 128 }, 'At a time.'),
    memoryMb: wholeNumber(
      { min: 64, default: 1_000 },
      'Memory limit for all processes together, in megabytes.',
    ),
    diskMb: wholeNumber(
      { min: 1, default: 2_000 },
      'Maximum size of all files that one command may write to the workspace, in megabytes.',
    ),
  },
);
export type Exec = z.infer<typeof Exec>;

const Fetch = defineSection('Reading web pages as text. Private addresses are never requested.', {
  enabled: flag(true, 'false: the agent cannot read web pages.'),
  approval: z
    .enum(['never', 'after-untrusted-text', 'unknown', 'always'])
    .default('after-untrusted-text')
    .describe(
      "When approval is needed. never; after-untrusted-text: once the turn has read text from outsiders, for addresses that nobody wrote, no search found and no page on the same site links to; unknown: in an owner's direct chat, for addresses that nobody wrote and no search found; always: for every page.",
    ),
  ports: z
    .array(z.int().min(1).max(65_535))
    .min(1)
    .default([80, 443])
    .describe('Ports on the public internet that may be requested.'),
  seconds: wholeNumber({ min: 1, max: 60, default: 20 }, 'Maximum time for loading a page.'),
  maxMb: numberField({ above: 0, max: 50, default: 5 }, 'Maximum size of a page, in megabytes.'),
  maxCharacters: wholeNumber(
    { min: 500, max: 200_000, default: 15_000 },
    'Maximum number of characters from a page that the model is shown at a time.',
  ),
});

const WebAddress = z.url({
  protocol: /^https?$/,
  error: 'a web address, such as http://127.0.0.1:8080',
});

const Search = defineSection('Search engines. If none is set, the agent cannot search the web.', {
  results: wholeNumber(
    { min: 1, max: 20, default: 6 },
    'Maximum number of results that the model is shown.',
  ),
  searxng: z
    .strictObject({
      baseUrl: WebAddress.describe('URL of a SearXNG instance with json in search.formats.'),
      language: z
        .string()
        .min(2)
        .max(20)
        .optional()
        .describe('Search language, such as de or zh-CN.'),
    })
    .optional()
    .describe('SearXNG, a search engine that you can run yourself; it is used first.'),
  brave: z
    .strictObject({
      apiKey: z.string().min(1).describe('Key for the Brave Search API.'),
      baseUrl: WebAddress.optional().describe(
        "An address to use instead of Brave's own, only for a proxy.",
      ),
    })
    .optional()
    .describe('Brave Search, used if SearXNG is not set or fails.'),
});

/** `tools.web`: the agent's access to the web (G02, G06). */
export const Web = defineSection('The web.', { fetch: Fetch, search: Search });
export type Web = z.infer<typeof Web>;

const NonEmpty = z.string().min(1);

const ToolNames = defineSection(
  "Which of the server's tools the agent gets, by the names that the server uses.",
  {
    allow: z.array(NonEmpty).optional().describe('Only these tools. Default: all tools.'),
    block: z.array(NonEmpty).default([]).describe('Tools that are never used, even if allowed.'),
  },
);

const OAuth = z
  .strictObject({
    clientId: NonEmpty.optional().describe(
      'Client id with which Parley is registered. Default: Parley registers itself.',
    ),
    clientSecret: NonEmpty.optional().describe(
      'Client secret of that registration, if it has one.',
    ),
    clientMetadataUrl: z
      .url({ protocol: /^https$/, error: 'a web address that begins with https://' })
      .optional()
      .describe('URL of a document that describes Parley to servers that identify clients by URL.'),
    scope: NonEmpty.optional().describe(
      'Scopes to request, separated by spaces. Default: the scopes that the server names.',
    ),
    issuer: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('Address of the authorization server, if it is on a private network.'),
  })
  .optional()
  .describe(
    'How Parley signs in if the server requires it. A person signs in on the page, under Status; all of these settings are optional.',
  );

const Server = z
  .strictObject({
    command: NonEmpty.optional().describe(
      'The program to start, which communicates over stdin and stdout.',
    ),
    args: z.array(z.string()).default([]).describe('For the program.'),
    env: z
      .record(z.string().regex(/^\w+$/, 'letters, digits and _'), z.string())
      .default({})
      .describe('Environment variables for the program, in addition to PATH, HOME and LANG.'),
    cwd: NonEmpty.optional().describe("The program's working directory."),
    url: z
      .url({ protocol: /^https?$/, error: 'a web address, such as http://127.0.0.1:3000/mcp' })
      .optional()
      .describe('URL of a server that is reached over HTTP, instead of a program.'),
    headers: z
      .record(NonEmpty, z.string())
      .default({})
      .describe('Headers sent with every request to the server.'),
    oauth: OAuth,
    tools: ToolNames,
    audience: defineChoice(
      ['owner', 'everyone'],
      'owner: only in direct chats with an owner. everyone: in all chats.',
    ),
    approval: z
      .enum(['never', 'ask'])
      .optional()
      .describe(
        'Whether each call needs approval. Default: never for tools that are declared read-only, otherwise ask.',
      ),
    connector: z
      .string()
      .min(1)
      .max(4_000)
      .optional()
      .describe('The description that the agent sees while the server is connected.'),
    timeoutMs: wholeNumber(
      { min: 100, max: 3_600_000, default: 60_000 },
      'Maximum duration of one call, in milliseconds; tools.maxSeconds applies as well.',
    ),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    error: 'either command (a program) or url (a remote server), but not both',
  });

/**
 * `mcp`: the installation's MCP servers, by name (G03). A server is started only if it is
 * configured.
 */
export const Mcp = z
  .record(
    z
      .string()
      .regex(
        /^[a-z][a-z0-9]{0,23}$/,
        'lower-case letters and digits, at most 24, starting with a letter',
      ),
    Server,
  )
  .default({})
  .describe('Model Context Protocol servers: additional tools, and prompts that people can pick.');
