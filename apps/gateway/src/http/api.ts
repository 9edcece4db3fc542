import type {
  ApprovalView,
  ConversationView,
  MessageView,
  RunningProcess,
  SearchHit,
  Store,
} from '@parley/store';
import type { AccountStatus } from '../accounts/account.ts';
import type { HealthReport } from './health.ts';

export type { ApprovalView, ConversationView, MessageView, SearchHit };

// The response types of the HTTP API. The page and the command line import only these types, so
// that they do not load any code from the gateway. The types for dead letters are in
// `dead-letters.ts`.

export interface PluginLine {
  /** False if the plugin or part of it is not working. */
  readonly works: boolean;
  readonly line: string;
  /** The name of an MCP server to which an owner has to sign in. */
  readonly signIn?: string;
}

/** The process that responded to the request. */
export interface RespondingProcess {
  readonly version: string;
  readonly uptimeMs: number;
  /** The resident memory of the process in bytes, including its code and the database. */
  readonly memoryBytes: number;
}

/** The response from `/api/status/report`, without the channels. */
export interface StatusReport {
  readonly self: RespondingProcess;
  readonly agent: string;
  readonly model: string;
  readonly dataFolder: string;
  /** `http.publicUrl`; absent if it is not set. */
  readonly publicUrl?: string;
  readonly plugins: readonly PluginLine[];
  /** The MCP servers, in the same form as plugins. */
  readonly mcp: readonly PluginLine[];
  /** How the settings file differs from the settings in use. */
  readonly settings: SettingsState;
  /**
   * All processes that share the database, each with notes about differences from the others in
   * version or settings.
   */
  readonly processes: readonly (RunningProcess & { readonly notes: readonly string[] })[];
  /** The current database problem, with advice. */
  readonly trouble?: string;
  /** Recent database problems, the work that they delay, and advice; absent if there are none. */
  readonly notes?: readonly string[];
  /**
   * Totals for the last 24 hours. All following figures are absent while the database cannot be
   * read.
   */
  readonly turns?: Awaited<ReturnType<Store['turns']['totals']>>;
  /** Cost since midnight in the agent's time zone (G17). */
  readonly today?: Awaited<ReturnType<Store['spend']['day']>>;
  /** Messages that no turn has picked up yet, and how long (ms) the oldest has waited. */
  readonly waiting?: { readonly messages: number; readonly oldestMs: number };
  readonly outbox?: Awaited<ReturnType<Store['outbox']['counts']>>;
  readonly dead?: Awaited<ReturnType<Store['deadLetters']['counts']>>;
}

/** The difference between the settings file and the settings in use (D12). */
export interface SettingsState {
  /** Names of changed settings that take effect at the next start. */
  readonly afterRestart: readonly string[];
  /** Problems in the file; the previous settings stay in use until the file is fixed. */
  readonly problems: readonly string[];
}

/** The response from `/api/setup/state`, which describes the existing configuration. */
export interface SetupState {
  /** The model in the form shown by `parley status`. */
  readonly model: string;
  readonly isOffline: boolean;
  readonly providers: readonly SetupProvider[];
  readonly platforms: readonly SetupPlatform[];
  /** The channels in the settings, except for the page and the terminal. */
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

/** A model server or service to choose from, and the values that the person has to provide. */
export interface SetupProvider {
  readonly name: string;
  readonly provider: 'openai-compatible' | 'openai' | 'anthropic';
  /** The base URL, which is only a default if `hasAddress` is true. */
  readonly baseUrl?: string;
  readonly hasAddress?: true;
  readonly hasKey?: true;
  /** A hint for the person: which values to provide, and where to find them. */
  readonly needs: string;
  /** The default model; set if the server was found on this machine. */
  readonly model?: string;
}

export interface SetupPlatform {
  /** The name of the channel. */
  readonly id: string;
  readonly name: string;
  /**
   * The value that the person has to provide for an account. Without a phone number, the account is
   * linked with a QR code.
   */
  readonly asks: 'token' | 'phone' | 'options';
  readonly needs: string;
  /** The values that the person enters as `options`. */
  readonly fields?: readonly SetupField[];
  /** What cannot be guaranteed to be durable on this platform. */
  readonly notDurable?: readonly string[];
  /** Present on platforms that Parley's tests do not cover. */
  readonly isUntested?: true;
  /** The address that the platform has to call, or instructions for finding it. */
  readonly webhook?: string;
}

/** A value that the person enters. */
export interface SetupField {
  readonly key: string;
  readonly label: string;
  /** Describes the value and where to find it. */
  readonly help: string;
  readonly isSecret: boolean;
  readonly isOptional: boolean;
  /** Whether the value is the content of a file. */
  readonly isFile?: true;
}

/** The result of a setup step. `models` lists the models that the server offers, if known. */
export type SetupResult =
  | {
      readonly kind: 'works';
      readonly text: string;
      readonly models: readonly string[] | null;
      /** The bot account to which a tested token belongs. */
      readonly bot?: SetupBot;
    }
  | { readonly kind: 'done'; readonly text: string }
  | {
      readonly kind: 'problem';
      readonly reason: string;
      readonly fix: string;
      readonly models: readonly string[] | null;
    };

/** The bot account to which a token belongs. */
export interface SetupBot {
  /** `@my_bot`. */
  readonly name: string;
  /** The bytes of the bot's picture in base64; null if it has no picture. */
  readonly picture: string | null;
  /** The URL of the page on which a person adds the bot to their servers; null if there is none. */
  readonly invitation: string | null;
}

/** `/api/settings/show`. */
export interface SettingsResponse {
  readonly file: string;
  /** The text of the settings file with hidden secrets, or the initial text if there is no file. */
  readonly text: string;
  /** A fingerprint of the file. Requests to change the file must include this fingerprint. */
  readonly print: string;
  /** The values as written, with unresolved references; null if the text is not valid YAML. */
  readonly values: object | null;
  readonly problems: readonly SettingsProblemSummary[];
  readonly state: SettingsState;
  /** The time of the last change that can be undone; null if there is none. */
  readonly savedAt: string | null;
}

/** A problem at one location in the settings. */
export interface SettingsProblemSummary {
  /**
   * The path of the setting, such as `channels.telegram.token`; empty for a problem with the whole
   * file.
   */
  readonly path: string;
  /** The line number, starting at 1; absent if the location is not in the file. */
  readonly line?: number;
  readonly column?: number;
  /** The value found, the expected value, and the value that was probably intended. */
  readonly text: string;
}

/** The result of changing the settings file. */
export type SettingsWriteResult =
  | { readonly kind: 'written' | 'unchanged' }
  /** The change was refused, and nothing was written. */
  | { readonly kind: 'refused'; readonly problems: readonly SettingsProblemSummary[] }
  /** The file has changed since it was read, so nothing was written. */
  | { readonly kind: 'outdated' };

/** `/api/status/report`. */
export interface GatewayStatus extends StatusReport {
  readonly health: HealthReport;
  readonly channels: readonly AccountStatus[];
}

/**
 * `critical` means that another person can currently get in or read private text. `warning` means
 * that a protection is weaker than it could be.
 */
export type AuditSeverity = 'critical' | 'warning' | 'info';

/** A finding of one check. */
export interface AuditFinding {
  readonly id: string;
  readonly severity: AuditSeverity;
  /** One sentence, which does not contain secrets. */
  readonly found: string;
  readonly remedy: string;
}

/** The response from `/api/audit/report`, with the most severe finding first. */
export interface AuditReport {
  /** The time of the audit, in ms since 1970. */
  readonly at: number;
  readonly counts: Readonly<Record<AuditSeverity, number>>;
  readonly findings: readonly AuditFinding[];
}

export type LogLevelName = 'debug' | 'info' | 'warn' | 'error';

/** Selects log lines. */
export interface LogQuery {
  /** The lowest log level to include. */
  readonly level: LogLevelName;
  readonly channel?: string | undefined;
  /** The id of the conversation whose lines to include. */
  readonly conversation?: string | undefined;
  /** Text that the line must contain, ignoring case. */
  readonly text?: string | undefined;
  /** The time range (ms since 1970): lines before `before`, and lines at or after `after`. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly limit: number;
}

export interface LogLine {
  /** The time of the line, in ms since 1970. */
  readonly at: number;
  readonly level: LogLevelName;
  /** The role, host and process id of the process, such as `all-host-4711`. */
  readonly process: string;
  readonly text: string;
  readonly channel: string | null;
  /**
   * The component, such as `telegram/default` or `tool exec`; null if the line does not name a
   * component.
   */
  readonly component: string | null;
  /** The conversation; its `title` is null if unknown. */
  readonly conversation: { readonly id: string; readonly title: string | null } | null;
  /** The id of a turn, which the *Why* page accepts. */
  readonly turn: string | null;
  readonly message: string | null;
  /** All other fields of the log line. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The response from `GET /api/logs/read`. */
export interface LogReport {
  /** The log lines, newest first. */
  readonly lines: readonly LogLine[];
  /** The value of `before` for older lines; null if there are none. */
  readonly next: number | null;
  /** The processes with lines in this folder. */
  readonly processes: readonly string[];
  /** Running processes that store their lines in another folder or do not store them. */
  readonly unreachable: readonly string[];
  readonly channels: readonly string[];
}

/**
 * The response from `GET /api/report/bundle`: a bundle for a bug report, without secrets, names or
 * message text.
 */
export interface BugReport {
  readonly name: string;
  readonly files: readonly { readonly name: string; readonly text: string }[];
  /** The bundle as a `.tar.gz` file in base64. */
  readonly archive: string;
}
