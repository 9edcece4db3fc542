import type { OAuthSettings } from './oauth/sign-in-state.ts';

/** How a server is reached: as a child process, or over HTTP. */
export type McpPeer =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** The server's whole environment besides PATH, HOME and LANG. */
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string | undefined;
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** How Parley signs in when the server requires it. */
      readonly oauth?: OAuthSettings | undefined;
    };

/** One configured server. */
export interface McpServerConfig {
  /** Lowercase letters and digits; the prefix of its tools' names. */
  readonly name: string;
  readonly peer: McpPeer;
}
