/** Reads the fonts, which the document has asked for already, before the first text is laid out. */
export function loadFonts(): void {
  for (const family of ['Geist Variable', 'Geist Mono Variable']) {
    void document.fonts.load(`1em "${family}"`);
  }
}
