/** A statement that a connection sent to a database. */
export interface LoggedStatement {
  /** `store`, `queue`, or the connection. */
  readonly connection: string;
  readonly text: string;
}

/** Statements that belong together: one transaction, or one statement alone. */
export interface StatementGroup {
  readonly connection: string;
  /** Whether its commit waits for the disk; undefined if the database does not report it. */
  readonly synced: boolean | undefined;
  readonly isTransaction: boolean;
  readonly writes: boolean;
  readonly statements: readonly string[];
}

const BEGIN = /^(begin|start transaction)/i;
const END = /^(commit|rollback$|end$)/i;
const CONTROL = /^(savepoint|release|rollback to|pragma|set |show )/i;
const WRITE = /^\s*(insert|update|delete|replace|with\b.*\b(insert|update|delete)\b)/is;
const LOCKS = /\bfor (no key )?update\b/i;
const SYNC = /^pragma synchronous = (\w+)/i;

interface OpenTransaction {
  synced: boolean | undefined;
  current: string[] | null;
}

/** Groups statements by the transactions in which they ran. */
export function groupByTransaction(asked: readonly LoggedStatement[]): StatementGroup[] {
  const open = new Map<string, OpenTransaction>();
  const groups: StatementGroup[] = [];
  for (const { connection, text } of asked) {
    const known = open.get(connection) ?? { synced: undefined, current: null };
    open.set(connection, known);
    const mode = SYNC.exec(text)?.[1];
    if (mode !== undefined) known.synced = mode === 'full';
    else if (BEGIN.test(text)) known.current = [];
    else if (END.test(text)) {
      const statements = known.current ?? [];
      const writes = statements.some((one) => WRITE.test(one) || LOCKS.test(one));
      if (statements.length > 0)
        groups.push({ connection, synced: known.synced, isTransaction: true, writes, statements });
      known.current = null;
    } else if (CONTROL.test(text)) continue;
    else if (known.current !== null) known.current.push(text);
    else {
      const writes = WRITE.test(text);
      const alone = { connection, synced: known.synced, isTransaction: false, writes };
      groups.push({ ...alone, statements: [text] });
    }
  }
  return groups;
}

/** Formats groups for the message of a failed test. */
export function formatGroups(groups: readonly StatementGroup[]): string {
  const lines = groups.flatMap(({ connection, synced, isTransaction, statements }) => {
    const durable = synced === undefined ? '' : synced ? ', synced' : ', not synced';
    const kind = isTransaction ? `transaction${durable}` : 'alone';
    return [`-- ${connection}: ${kind}`, ...statements.map((text) => `   ${toOneLine(text)}`)];
  });
  return lines.join('\n');
}

function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 240);
}
