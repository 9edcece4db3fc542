import type {
  RunningProcess,
  SearchHit,
  ShownApproval,
  ShownConversation,
  ShownMessage,
  Store,
} from '@parley/store';
import type { AccountStatus } from '../accounts/connect-account.ts';
import type { Health } from './health.ts';

export type { SearchHit, ShownApproval, ShownConversation, ShownMessage };

// What the HTTP API answers. The page and the command line import these types, and types only, so that nothing
// of the gateway is loaded there; those of dead letters are in `dead-letters.ts`.

export interface PluginLine {
  /** False: it, or a part of it, does not work. */
  readonly works: boolean;
  readonly line: string;
  /** The name of an MCP server that an owner has to sign in at. */
  readonly signIn?: string;
}

/** The process that answers. */
export interface OwnProcess {
  readonly version: string;
  readonly uptimeMs: number;
  /** The resident memory of the process, including its code and the database. */
  readonly memoryBytes: number;
}

/** What `/api/status/report` returns besides the channels. */
export interface StatusReport {
  readonly self: OwnProcess;
  readonly agent: string;
  readonly model: string;
  readonly dataFolder: string;
  readonly plugins: readonly PluginLine[];
  /** The same of MCP servers. */
  readonly mcp: readonly PluginLine[];
  /** How the settings file differs from what is in use. */
  readonly settings: SettingsState;
  /** Where several share the database: all of them, and in what each does not fit the others. */
  readonly processes: readonly (RunningProcess & { readonly notes: readonly string[] })[];
  /** What is wrong with the database, and what to do about it. */
  readonly trouble?: string;
  /** Recent trouble with the database and what is held back in it, with what to do; absent when there is none. */
  readonly notes?: readonly string[];
  /** The last 24 hours. This and the figures below are absent where the database cannot be read. */
  readonly turns?: Awaited<ReturnType<Store['turns']['totals']>>;
  /** Since midnight in the time zone of the agent (G17). */
  readonly today?: Awaited<ReturnType<Store['spend']['day']>>;
  /** Messages that no turn has taken yet, and for how long the oldest one has waited. */
  readonly waiting?: { readonly messages: number; readonly oldestMs: number };
  readonly outbox?: Awaited<ReturnType<Store['outbox']['counts']>>;
  /** Dead letters that are neither replayed nor dropped (D06). */
  readonly dead?: Awaited<ReturnType<Store['deadLetters']['counts']>>;
}

/** The settings file beside the settings that are in use (D12). */
export interface SettingsState {
  /** Names of what the file has otherwise, and what counts from the next start. */
  readonly afterRestart: readonly string[];
  /** Why the file cannot be used as it is now; those from before stay in use. */
  readonly problems: readonly string[];
}

/** `/api/setup/state`: what is there already. */
export interface SetupState {
  /** As `parley status` shows it. */
  readonly model: string;
  /** No language model is connected. */
  readonly isOffline: boolean;
  readonly providers: readonly SetupProvider[];
  readonly platforms: readonly SetupPlatform[];
  /** Those that the settings name, besides the page and the terminal. */
  readonly channels: readonly string[];
  readonly owners: readonly string[];
  /** Strangers who have written to a bot and may be its owner. */
  readonly waiting: readonly {
    readonly channel: string;
    readonly account: string;
    /** `telegram:42`. */
    readonly person: string;
    readonly name: string;
  }[];
}

/** A model server or service that can be chosen, and what it wants to be asked for. */
export interface SetupProvider {
  readonly name: string;
  readonly provider: 'openai-compatible' | 'openai' | 'anthropic';
  /** Fixed, or with `hasAddress` what is proposed. */
  readonly baseUrl?: string;
  readonly hasAddress?: true;
  readonly hasKey?: true;
  /** What is needed, and where to get it. */
  readonly needs: string;
  /** It was found on this machine, and is asked for this model where none is chosen. */
  readonly model?: string;
}

export interface SetupPlatform {
  readonly id: 'telegram' | 'discord' | 'whatsapp';
  readonly name: string;
  /** What an account is set up with; without a phone number, by a QR code. */
  readonly asks: 'token' | 'phone';
  /** What is needed, and where to get it. */
  readonly needs: string;
}

/** The result of a step of the setup. `models`: those that the server offers, where that is known. */
export type SetupAnswer =
  | {
      readonly kind: 'works';
      readonly text: string;
      readonly models: readonly string[] | null;
      /** Of a token that was tried. */
      readonly bot?: SetupBot;
    }
  | { readonly kind: 'done'; readonly text: string }
  | {
      readonly kind: 'problem';
      readonly reason: string;
      readonly fix: string;
      readonly models: readonly string[] | null;
    };

/** The account that a token belongs to. */
export interface SetupBot {
  /** `@my_bot`. */
  readonly name: string;
  /** The bytes of its picture in base64; null where it has none. */
  readonly picture: string | null;
  /** The page on which a person takes the bot into their servers; null where there is none. */
  readonly invitation: string | null;
}

/** `/api/settings/show`. */
export interface ShownSettings {
  readonly file: string;
  /** As it is written; that of a first start where there is none. Secrets are hidden. */
  readonly text: string;
  /** Changes with the file; a change of the file names it. */
  readonly print: string;
  /** The values as they are written, references as such; null: it is no valid YAML. */
  readonly values: object | null;
  readonly problems: readonly ShownProblem[];
  readonly state: SettingsState;
  /** The moment of the last change that can be undone; null: there is none. */
  readonly savedAt: string | null;
}

/** What is wrong at one place of the settings. */
export interface ShownProblem {
  /** `channels.telegram.token`; empty for the file as a whole. */
  readonly path: string;
  /** Counted from 1; absent where there is no such place. */
  readonly line?: number;
  readonly column?: number;
  /** What was found, what is expected, what was probably meant. */
  readonly text: string;
}

/** The result of a change of the settings file. */
export type SettingsWritten =
  | { readonly kind: 'written' | 'unchanged' }
  /** Nothing was written. */
  | { readonly kind: 'refused'; readonly problems: readonly ShownProblem[] }
  /** The file has changed since it was read: nothing was written. */
  | { readonly kind: 'outdated' };

/** `/api/status/report`. */
export interface GatewayStatus extends StatusReport {
  readonly health: Health;
  readonly channels: readonly AccountStatus[];
}

/** `critical`: another person can get in or read along now. `warning`: a guard is weaker than it could be. */
export type AuditSeverity = 'critical' | 'warning' | 'info';

/** What one check found. */
export interface AuditFinding {
  readonly id: string;
  readonly severity: AuditSeverity;
  /** One sentence; never a secret itself. */
  readonly found: string;
  readonly remedy: string;
}

/** `/api/audit/report`: the worst finding first. */
export interface AuditReport {
  /** In ms. */
  readonly at: number;
  readonly counts: Readonly<Record<AuditSeverity, number>>;
  readonly findings: readonly AuditFinding[];
}

export type LogLevelName = 'debug' | 'info' | 'warn' | 'error';

/** Which lines of the log are asked for. */
export interface LogQuery {
  /** The lowest. */
  readonly level: LogLevelName;
  readonly channel?: string | undefined;
  /** Its id. */
  readonly conversation?: string | undefined;
  /** It is somewhere in the line, in upper or lower case. */
  readonly text?: string | undefined;
  /** Only lines before this moment, in ms; only lines from this moment on. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly limit: number;
}

/** One line of the log. */
export interface LogLine {
  /** In ms. */
  readonly at: number;
  readonly level: LogLevelName;
  /** `all-host-4711`: the role, machine and number of the process. */
  readonly process: string;
  readonly text: string;
  readonly channel: string | null;
  /** `telegram/default`, `tool exec`; null where the line names none. */
  readonly component: string | null;
  /** `title`: null where it is not known. */
  readonly conversation: { readonly id: string; readonly title: string | null } | null;
  /** Ids that *Why* understands. */
  readonly turn: string | null;
  readonly message: string | null;
  /** Everything else that the line says. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** `GET /api/logs/read`. */
export interface LogReport {
  /** Newest first. */
  readonly lines: readonly LogLine[];
  /** `before` of older lines; null: there are none. */
  readonly next: number | null;
  /** Processes whose lines are kept here. */
  readonly processes: readonly string[];
  /** Processes that run, but keep their lines in another folder or not at all. */
  readonly unreachable: readonly string[];
  readonly channels: readonly string[];
}

/** `GET /api/report/bundle`: a bundle for a bug report, without secrets, names and texts. */
export interface BugReport {
  readonly name: string;
  readonly files: readonly { readonly name: string; readonly text: string }[];
  /** The same as a `.tar.gz`, in base64. */
  readonly archive: string;
}
