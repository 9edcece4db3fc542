import type { OAuthSettings } from './oauth/sign-in-state.ts';

/** The connection of a server: as a child process, or over HTTP. */
export type McpPeer =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** All that the server gets besides PATH, HOME and LANG. */
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string | undefined;
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** The sign-in of Parley where the server asks for it. */
      readonly oauth?: OAuthSettings | undefined;
    };

/** One server of the settings. */
export interface McpServerConfig {
  /** Small letters and digits: the first part of the names of its tools. */
  readonly name: string;
  readonly peer: McpPeer;
}
