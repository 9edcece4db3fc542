/** What the settings say of one MCP server, besides how it is reached. */
export interface McpRules {
  /** By the names that the server gives its tools. */
  readonly tools: {
    readonly allow?: readonly string[] | undefined;
    readonly block: readonly string[];
  };
  readonly audience: 'owner' | 'everyone';
  /** Absent: never for tools that say they only read, else ask. */
  readonly approval?: 'never' | 'ask' | undefined;
  /** Told to the model while the server is connected. */
  readonly connector?: string | undefined;
  /** One call, in ms. */
  readonly timeoutMs: number;
}

/** The rules of every server, by its name. */
export type McpRulesByServer = Readonly<Record<string, McpRules>>;
