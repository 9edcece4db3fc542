import { readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';

const SOURCES = dirname(fileURLToPath(new URL('../page/main.tsx', import.meta.url)));

/** The placeholder in `index.html` for the names of the built files. */
const MARK = '<!-- built files -->';

/** Files for the page that are not bundled. */
const UNBUNDLED = { page: 'index.html', simulate: 'simulate/index.html', icon: 'icon.svg' };

/**
 * The built page, as files keyed by their path at the gateway. `/` is the page's HTML, and
 * `/simulate.html` is the HTML for `parley simulate`.
 */
export type BuiltPage = ReadonlyMap<string, Uint8Array>;

/** The page, and the absolute paths of its sources. */
export interface PageBuild {
  readonly page: BuiltPage;
  readonly inputs: readonly string[];
}

/**
 * Builds the page in memory: the chat with everything it needs immediately, and a separate file for
 * each view, which is loaded when the view is opened. File names contain a hash of their content,
 * so browsers may cache them. Throws esbuild's `BuildFailure`, which contains the file and line.
 */
export async function buildPage(): Promise<PageBuild> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: SOURCES,
    entryPoints: {
      ...{ main: 'main.tsx', style: 'style/style.css' },
      ...{ simulate: 'simulate/main.tsx', 'simulate-style': 'simulate/style/style.css' },
    },
    outdir: 'page',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    sourcemap: 'linked',
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
    tsconfigRaw: {},
  });
  const pathOf = (file: string): string => `/${relative(SOURCES, file).replaceAll(sep, '/')}`;
  const html = (file: string, folder: string): Uint8Array => {
    const text = readFileSync(join(SOURCES, file), 'utf8');
    return new TextEncoder().encode(text.replace(MARK, createTags(metafile, folder)));
  };
  const page = new Map([
    ['/', html(UNBUNDLED.page, '')],
    ['/simulate.html', html(UNBUNDLED.simulate, 'simulate/')],
    ['/page/icon.svg', readFileSync(join(SOURCES, UNBUNDLED.icon))],
    ...outputFiles.map(({ path, contents }) => [pathOf(path), contents] as const),
  ]);
  const inputs = [...Object.keys(metafile.inputs), ...Object.values(UNBUNDLED)];
  return { page, inputs: inputs.map((file) => join(SOURCES, file)) };
}

/**
 * Tags for the style sheet, the script and its imports. Preloading an import avoids one round trip
 * per step in the import chain.
 */
function createTags({ outputs }: Metafile, folder: string): string {
  const files = Object.entries(outputs);
  const [style] =
    files.find(([, { entryPoint }]) => entryPoint === `${folder}style/style.css`) ?? [];
  const [script, main] =
    files.find(([, { entryPoint }]) => entryPoint === `${folder}main.tsx`) ?? [];
  const imported = main?.imports.filter(({ kind }) => kind === 'import-statement') ?? [];
  return [
    `<link rel="stylesheet" href="/${style}">`,
    ...imported.map(({ path }) => `<link rel="modulepreload" href="/${path}">`),
    `<script type="module" src="/${script}"></script>`,
  ].join('\n');
}
