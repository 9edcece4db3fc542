import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Logger } from '@parley/core';
import { z } from 'zod';
import type { DataFolder } from '../../data-folder.ts';

const Tools = z.record(z.string(), z.string());
const AcceptedTools = z.record(
  z.string(),
  z.object({
    tools: Tools,
    acceptedAt: z.number(),
    /** The version of the hash algorithm; absent in files that version 0.1.0 wrote. */
    reading: z.number().optional(),
    seen: z.object({ tools: Tools, at: z.number() }).optional(),
  }),
);
type AcceptedTools = z.infer<typeof AcceptedTools>;

/**
 * The current version of the hash algorithm. Increment it whenever the same response from a server
 * would produce a different hash.
 */
const READING = 2;

interface DescribedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: object;
  readonly readOnly: boolean;
}

/**
 * Compares the tools that a server offers with its accepted tools. The first list from a server is
 * accepted as it is. If a later list differs, it is logged and kept for the audit until the
 * operator accepts it.
 */
export function createMcpToolChangeChecker(
  folder: Pick<DataFolder, 'path'>,
  { log, clock }: { readonly log: Logger; readonly clock: Clock },
): (server: string, tools: readonly DescribedTool[]) => void {
  return (server, tools) => {
    const all = readAcceptedTools(folder);
    const before = all[server];
    const offered = Object.fromEntries(tools.map((tool) => [tool.name, hashTool(tool)]));
    if (before === undefined) {
      const accepted = { tools: offered, acceptedAt: clock(), reading: READING };
      writeAcceptedTools(folder, { ...all, [server]: accepted });
      return;
    }
    const known = rehashEntry(before, offered);
    if (known !== before) {
      writeAcceptedTools(folder, { ...all, [server]: known });
      log.info(
        { server },
        'MCP server: the hashes now cover more of its tool descriptions than before',
      );
    }
    const changes = describeToolChanges(known.tools, offered);
    const isNews = describeToolChanges((known.seen ?? known).tools, offered) !== '';
    if (!isNews) return;
    const { seen: _old, ...rest } = known;
    const seen = changes === '' ? {} : { seen: { tools: offered, at: clock() } };
    writeAcceptedTools(folder, { ...all, [server]: { ...rest, ...seen } });
    if (changes === '') return;
    const message =
      'MCP server: its tool descriptions differ from the accepted ones; "parley audit" explains how to accept them';
    log.warn({ server, changes }, message);
  };
}

type AcceptedEntry = AcceptedTools[string];

/**
 * Returns the accepted tools with hashes of the current version. Hashes from an older version
 * cannot be compared. After an upgrade, tools with the same name are therefore assumed to be
 * unchanged. Tools that had already changed stay marked as changed, and new and missing tools are
 * still reported.
 */
function rehashEntry(entry: AcceptedEntry, offered: z.infer<typeof Tools>): AcceptedEntry {
  if (entry.reading === READING) return entry;
  const { seen, ...accepted } = entry;
  const marks = Object.entries(accepted.tools).map(([name, mark]) => {
    const hadChanged = seen !== undefined && seen.tools[name] !== mark;
    return [name, hadChanged ? mark : (offered[name] ?? mark)];
  });
  return { ...accepted, tools: Object.fromEntries(marks), reading: READING };
}

/**
 * Returns the servers whose tools have changed since they were accepted, with the changes as
 * `changed: a; new: b; gone: c`.
 */
export function readMcpChanges(folder: Pick<DataFolder, 'path'>) {
  return Object.entries(readAcceptedTools(folder)).flatMap(([server, { tools, seen }]) =>
    seen === undefined ? [] : [{ server, changes: describeToolChanges(tools, seen.tools) }],
  );
}

export function acceptMcpTools(
  folder: Pick<DataFolder, 'path'>,
  server: string,
  now: number,
): boolean {
  const all = readAcceptedTools(folder);
  const seen = all[server]?.seen;
  if (seen === undefined) return false;
  const { reading } = all[server] ?? {};
  const accepted = {
    tools: seen.tools,
    acceptedAt: now,
    ...(reading !== undefined && { reading }),
  };
  writeAcceptedTools(folder, { ...all, [server]: accepted });
  return true;
}

function describeToolChanges(before: z.infer<typeof Tools>, after: z.infer<typeof Tools>): string {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
  const changed = Object.keys(after).filter(
    (name) => Object.hasOwn(before, name) && before[name] !== after[name],
  );
  const parts = Object.entries({ changed, new: added, gone }).filter(([, list]) => list.length > 0);
  return parts.map(([word, list]) => `${word}: ${list.join(', ')}`).join('; ');
}

function hashTool({ name, description, schema, readOnly }: DescribedTool): string {
  const text = JSON.stringify([name, description, schema, readOnly]);
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}

/** Returns an empty record if the file is unreadable; the next list of tools is then accepted. */
function readAcceptedTools({ path }: Pick<DataFolder, 'path'>): AcceptedTools {
  const file = getAcceptedToolsFile(path);
  if (!existsSync(file)) return {};
  try {
    return AcceptedTools.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return {};
  }
}

function writeAcceptedTools({ path }: Pick<DataFolder, 'path'>, accepted: AcceptedTools): void {
  const file = getAcceptedToolsFile(path);
  writeFileSync(`${file}.new`, `${JSON.stringify(accepted, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function getAcceptedToolsFile(dataFolder: string): string {
  return join(dataFolder, 'mcp-accepted.json');
}
