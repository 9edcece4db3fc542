// Run by `npm run build` and as the last step of `npm ci`. It is plain JavaScript so that an older
// Node can report what is missing.
const NEEDED = 24;

if (Number(process.versions.node.split('.')[0]) >= NEEDED) await import('../src/build/main.ts');
else {
  process.stderr.write(
    `Parley needs Node ${NEEDED} or newer, and this is ${process.version}. npm brings Node ${NEEDED} for Linux with glibc and for Windows alone, and only without --omit=optional. On this machine install Node ${NEEDED} (https://nodejs.org; Homebrew: brew install node@${NEEDED}; Alpine: the image node:${NEEDED}-alpine), and run "npm ci" again.\n`,
  );
  process.exitCode = 1;
}
