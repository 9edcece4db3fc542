import type {
  RunningProcess,
  SearchHit,
  ShownApproval,
  ShownConversation,
  ShownMessage,
  Store,
} from '@parley/store';
import type { AccountStatus } from '../accounts/account.ts';
import type { HealthReport } from './health.ts';

export type { SearchHit, ShownApproval, ShownConversation, ShownMessage };

// Responses of the HTTP API. The page and the command line import these types only, so that no code
// of the gateway is loaded there. Those of dead letters are in `dead-letters.ts`.

export interface PluginLine {
  /** False when it, or part of it, is not working. */
  readonly works: boolean;
  readonly line: string;
  /** The name of an MCP server at which an owner has to sign in. */
  readonly signIn?: string;
}

/** The process that answered the request. */
export interface OwnProcess {
  readonly version: string;
  readonly uptimeMs: number;
  /** The resident memory of the process, including its code and the database. */
  readonly memoryBytes: number;
}

/** The response of `/api/status/report`, besides the channels. */
export interface StatusReport {
  readonly self: OwnProcess;
  readonly agent: string;
  readonly model: string;
  readonly dataFolder: string;
  /** `http.publicUrl`; absent if it is not set. */
  readonly publicUrl?: string;
  readonly plugins: readonly PluginLine[];
  /** The MCP servers, in the same form. */
  readonly mcp: readonly PluginLine[];
  /** How the settings file differs from the settings in use. */
  readonly settings: SettingsState;
  /**
   * All processes that share the database, each with notes on how its version or settings differ
   * from those of the others.
   */
  readonly processes: readonly (RunningProcess & { readonly notes: readonly string[] })[];
  /** What is wrong with the database, and what to do about it. */
  readonly trouble?: string;
  /**
   * Recent problems with the database, the work that they delay, and what to do; absent if there
   * are none.
   */
  readonly notes?: readonly string[];
  /**
   * Totals of the last 24 hours. This and the figures below are absent while the database cannot be
   * read.
   */
  readonly turns?: Awaited<ReturnType<Store['turns']['totals']>>;
  /** Cost since midnight in the agent's time zone (G17). */
  readonly today?: Awaited<ReturnType<Store['spend']['day']>>;
  /** Messages that no turn has picked up yet, and how long the oldest one has waited. */
  readonly waiting?: { readonly messages: number; readonly oldestMs: number };
  readonly outbox?: Awaited<ReturnType<Store['outbox']['counts']>>;
  /** Open dead letters (D06). */
  readonly dead?: Awaited<ReturnType<Store['deadLetters']['counts']>>;
}

/** How the settings file differs from the settings in use (D12). */
export interface SettingsState {
  /** Names of changed settings that take effect at the next start. */
  readonly afterRestart: readonly string[];
  /** Why the file is currently invalid; the previous settings stay in use. */
  readonly problems: readonly string[];
}

/** The response of `/api/setup/state`: what is already configured. */
export interface SetupState {
  /** In the form that `parley status` shows. */
  readonly model: string;
  /** Whether no language model is connected. */
  readonly isOffline: boolean;
  readonly providers: readonly SetupProvider[];
  readonly platforms: readonly SetupPlatform[];
  /** The channels in the settings, except the page and the terminal. */
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

/** A model server or service to choose from, and what the person has to provide for it. */
export interface SetupProvider {
  readonly name: string;
  readonly provider: 'openai-compatible' | 'openai' | 'anthropic';
  /** Fixed, or the default when `hasAddress` is true. */
  readonly baseUrl?: string;
  readonly hasAddress?: true;
  readonly hasKey?: true;
  /** What is needed, and where to get it. */
  readonly needs: string;
  /** The default model; present when the server was found on this machine. */
  readonly model?: string;
}

export interface SetupPlatform {
  /** The name of the channel. */
  readonly id: string;
  readonly name: string;
  /**
   * What the person has to provide for an account; without a phone number it is linked with a QR
   * code.
   */
  readonly asks: 'token' | 'phone' | 'options';
  /** What is needed, and where to get it. */
  readonly needs: string;
  /** The values that are asked for as `options`. */
  readonly fields?: readonly SetupField[];
  /** What cannot be durable on the platform. */
  readonly notDurable?: readonly string[];
  /** Present for platforms that Parley's tests do not cover. */
  readonly isUntested?: true;
  /** The address that the platform has to call, or how it becomes known. */
  readonly webhook?: string;
}

/** A value to fill in. */
export interface SetupField {
  readonly key: string;
  readonly label: string;
  /** What it is and where to find it. */
  readonly help: string;
  readonly isSecret: boolean;
  readonly isOptional: boolean;
  /** Whether it is the content of a file. */
  readonly isFile?: true;
}

/** The result of a set-up step. `models` lists those that the server offers, if known. */
export type SetupAnswer =
  | {
      readonly kind: 'works';
      readonly text: string;
      readonly models: readonly string[] | null;
      /** The bot that a tested token belongs to. */
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
  /** The picture's bytes in base64; null if it has none. */
  readonly picture: string | null;
  /** The page where a person adds the bot to their servers; null if there is none. */
  readonly invitation: string | null;
}

/** `/api/settings/show`. */
export interface ShownSettings {
  readonly file: string;
  /** The text as written, or the initial text if there is no file. Secrets are hidden. */
  readonly text: string;
  /** Changes with the file; a request to change the file must include it. */
  readonly print: string;
  /** The values as written, with references unresolved; null when the text is not valid YAML. */
  readonly values: object | null;
  readonly problems: readonly ShownProblem[];
  readonly state: SettingsState;
  /** When the last change that can be undone was made; null when there is none. */
  readonly savedAt: string | null;
}

/** A problem at one location of the settings. */
export interface ShownProblem {
  /** For example `channels.telegram.token`; empty for the file as a whole. */
  readonly path: string;
  /** Counted from 1; absent when the location is not in the file. */
  readonly line?: number;
  readonly column?: number;
  /** What was found, what is expected, and the value that was probably intended. */
  readonly text: string;
}

/** The result of changing the settings file. */
export type SettingsWritten =
  | { readonly kind: 'written' | 'unchanged' }
  /** Nothing was written. */
  | { readonly kind: 'refused'; readonly problems: readonly ShownProblem[] }
  /** The file has changed since it was read, so nothing was written. */
  | { readonly kind: 'outdated' };

/** `/api/status/report`. */
export interface GatewayStatus extends StatusReport {
  readonly health: HealthReport;
  readonly channels: readonly AccountStatus[];
}

/**
 * `critical`: another person can currently get in or read along. `warning`: a protection is weaker
 * than it could be.
 */
export type AuditSeverity = 'critical' | 'warning' | 'info';

/** A finding of one check. */
export interface AuditFinding {
  readonly id: string;
  readonly severity: AuditSeverity;
  /** One sentence, which never contains a secret. */
  readonly found: string;
  readonly remedy: string;
}

/** The response of `/api/audit/report`, most severe finding first. */
export interface AuditReport {
  /** In ms. */
  readonly at: number;
  readonly counts: Readonly<Record<AuditSeverity, number>>;
  readonly findings: readonly AuditFinding[];
}

export type LogLevelName = 'debug' | 'info' | 'warn' | 'error';

/** Selects lines of the log. */
export interface LogQuery {
  /** The lowest level to include. */
  readonly level: LogLevelName;
  readonly channel?: string | undefined;
  /** The id of a conversation. */
  readonly conversation?: string | undefined;
  /** Text that the line must contain; case is ignored. */
  readonly text?: string | undefined;
  /** Only lines before this moment, and only lines from this moment on, in ms since 1970. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly limit: number;
}

/** One line of the log. */
export interface LogLine {
  /** In ms. */
  readonly at: number;
  readonly level: LogLevelName;
  /** The role, host and process id, such as `all-host-4711`. */
  readonly process: string;
  readonly text: string;
  readonly channel: string | null;
  /** For example `telegram/default` or `tool exec`; null if the line names none. */
  readonly component: string | null;
  /** `title` is null when unknown. */
  readonly conversation: { readonly id: string; readonly title: string | null } | null;
  /** An id that *Why* accepts. */
  readonly turn: string | null;
  readonly message: string | null;
  /** All other fields of the line. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The response of `GET /api/logs/read`. */
export interface LogReport {
  /** Newest first. */
  readonly lines: readonly LogLine[];
  /** The `before` of older lines; null when there are none. */
  readonly next: number | null;
  /** Processes whose lines are stored here. */
  readonly processes: readonly string[];
  /** Running processes that store their lines in another folder, or store none. */
  readonly unreachable: readonly string[];
  readonly channels: readonly string[];
}

/**
 * The response of `GET /api/report/bundle`: a bundle for a bug report, without secrets, names or
 * message texts.
 */
export interface BugReport {
  readonly name: string;
  readonly files: readonly { readonly name: string; readonly text: string }[];
  /** The bundle as a `.tar.gz` file, in base64. */
  readonly archive: string;
}
