import { AudienceFrontMatter } from '../audience.ts';
import { type FileChange, FileVersions, type FileVersionsOptions } from '../file-versions.ts';
import { readFrontMatter } from '../front-matter.ts';
import { getReusableFrontMatter } from '../write-rules.ts';

/** A change to MEMORY.md whose old and new texts are both stored. */
interface MemoryEdit {
  /** The expected text of MEMORY.md, as returned by `current`; null if the file does not exist. */
  readonly from: string | null;
  readonly to: string;
  /** The reasons for the new version, one line each. */
  readonly why: readonly string[];
}

/** The workspace folder that contains the versions, as shown to people. */
export const VERSIONS_FOLDER = '.parley/memory';

const MEMORY = { name: 'MEMORY.md', segments: ['MEMORY.md'] };

/**
 * MEMORY.md with its earlier versions (H07). The versions are stored in a hidden folder that views,
 * searches and tools do not read; only an owner's view gives access to them.
 */
export class MemoryVersions extends FileVersions {
  constructor(options: FileVersionsOptions) {
    super(options, MEMORY, VERSIONS_FOLDER.split('/'));
  }

  /**
   * Reads MEMORY.md without front matter, even if it is an empty form; null if it does not exist.
   * Throws.
   */
  async current(): Promise<string | null> {
    const raw = await this.content();
    return raw === null ? null : stripVersionHead(raw);
  }

  /**
   * Reads a version, both byte for byte and as text without front matter and surrounding blank
   * lines; null if it does not exist.
   */
  async read(name: string): Promise<{ readonly raw: string; readonly text: string } | null> {
    const raw = await this.raw(name);
    return raw === null ? null : { raw, text: stripVersionHead(raw) };
  }

  /** Writes MEMORY.md if it still contains `from`, and stores the text before and after. */
  replace({ from, to, why }: MemoryEdit): Promise<FileChange> {
    return this.options.lock.hold(async (hold) => {
      const raw = await this.content();
      if ((raw === null ? null : stripVersionHead(raw)) !== from) return { kind: 'changed' };
      const head = getReusableFrontMatter(readFrontMatter(raw ?? '', AudienceFrontMatter));
      return this.change(hold, raw, `${head}${to.trimEnd()}\n`, why);
    });
  }
}

function stripVersionHead(raw: string): string {
  return readFrontMatter(raw, AudienceFrontMatter).body;
}
