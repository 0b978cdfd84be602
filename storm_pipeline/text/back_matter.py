"""Headings that are no sections of an article's text, in the languages of the package: back matter, and the lead."""

import re

_BACK_MATTER = """
    de: einzelnachweise? belege quellen quellenverzeichnis quellenangaben literaturverzeichnis literaturangaben
        literatur_und_(?:quellen|weblinks) weblinks siehe_auch anmerkungen fußnoten inhaltsverzeichnis
        fazit schluss schlussfolgerung(?:en)? schlussbemerkung(?:en)? galerie anhang weiterführende_literatur
    fr: références notes_et_références bibliographie liens_externes voir_aussi annexes? sources webographie
        table_des_matières sommaire conclusions? galerie
    es: referencias notas notas_y_referencias bibliografía enlaces_externos véase_también fuentes índice
        conclusi(?:ón|ones) galería anexos? lecturas?_adicional(?:es)?
    it: note bibliografia collegamenti_esterni voci_correlate altri_progetti riferimenti fonti conclusion[ei] galleria
    pt: referências notas bibliografia ligações_externas ver_também fontes conclus(?:ão|ões) galeria
    nl: referenties bronnen externe_links? zie_ook noten conclusie
    pl: przypisy bibliografia linki_zewnętrzne zobacz_też źródła podsumowanie
    ru: примечания литература источники ссылки см\\._также список_литературы заключение выводы галерея сноски
        библиография использованная_литература содержание
    ar: المراجع مراجع المصادر مصادر الهوامش هوامش وصلات_خارجية روابط_خارجية
        انظر_أيض[اً]+ اقرأ_أيض[اً]+ الخاتمة خاتمة خلاصة
        المراجع_والمصادر قائمة_المراجع معرض_صور المحتويات ملاحظات
    zh: 参考文献 參考文獻 参考资料 參考資料 注释 註釋 脚注 腳註 外部链接 外部連結
        参见 參見 延伸阅读 延伸閱讀 资料来源 資料來源
        结论 結論 总结 總結 结语 結語 目录 目錄 附录 附錄 相关条目 參考資料和注釋
    ja: 脚注 注釈 出典 参考文献 外部リンク 関連項目 関連文献 注釈・出典 参照 結論 まとめ おわりに 目次 付録
"""
_LEAD = """
    de: einleitung einführung überblick übersicht zusammenfassung
    fr: introduction résumé aperçu vue_d['’]ensemble présentation_générale
    es: introducción resumen visión_general panorama_general
    it: introduzione sommario panoramica
    pt: introdução resumo visão_geral
    nl: inleiding samenvatting overzicht
    pl: wstęp wprowadzenie streszczenie
    ru: введение вступление обзор общие_сведения краткое_содержание аннотация
    ar: مقدمة المقدمة نظرة_عامة ملخص تمهيد
    zh: 引言 导言 導言 简介 簡介 概述 概览 概覽 摘要 绪论 緒論 前言
    ja: 概要 はじめに 序論 序文 導入 要約 要旨
"""


def _pattern(table: str) -> re.Pattern[str]:
    names = re.sub(r"\b[a-z]{2}:", " ", table).split()
    return re.compile("|".join(name.replace("_", r"\s") for name in names), re.I)


_IS_BACK_MATTER, _IS_LEAD = _pattern(_BACK_MATTER), _pattern(_LEAD)


def is_back_matter(title: str) -> bool:
    """Whether a heading in another language than English is that of references, notes, links or a conclusion."""
    return bool(_IS_BACK_MATTER.fullmatch(title))


def is_lead(title: str) -> bool:
    """Whether a heading in another language than English stands for the lead: an introduction, a summary.

    English ones are matched in :mod:`storm_pipeline.text.outlines`.
    """
    return bool(_IS_LEAD.fullmatch(title))
