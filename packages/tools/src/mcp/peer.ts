import type { OAuthSettings } from './oauth/sign-in-state.ts';

/** How a server is reached: as a child process, or over HTTP. */
export type McpPeer =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** The complete environment of the server besides PATH, HOME and LANG. */
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

export interface McpServerConfig {
  /** The name, in lowercase letters and digits, which is the prefix of its tools' names. */
  readonly name: string;
  readonly peer: McpPeer;
}
