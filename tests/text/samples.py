"""A paragraph in each of several languages, made for the tests: the same report of a flood."""

PARAGRAPHS = {
    "en": "The river rose during the night, and the lower streets of the town were under water by the morning. Many "
    "people left their houses because they could not get to work. The bridge is closed, but the trains run again.",
    "cs": "Řeka v noci stoupla a ráno byly dolní ulice města pod vodou. Mnoho lidí opustilo své domy, protože se "
    "nemohli dostat do práce. Most je uzavřen, ale vlaky už zase jezdí, jako by se nic nestalo, a po poledni bude "
    "podle města otevřen také nový most, který byl postaven na jaře.",
    "da": "Floden steg om natten, og de nederste gader i byen var under vand om morgenen. Mange mennesker forlod deres "
    "huse, fordi de ikke kunne komme på arbejde. Broen er lukket, men togene kører igen, og det er ikke til at se.",
    "de": "Der Fluss stieg in der Nacht, und am Morgen standen die unteren Straßen der Stadt unter Wasser. Viele "
    "Menschen verließen ihre Häuser, weil sie nicht zur Arbeit kamen. Die Brücke ist gesperrt, aber die Züge fahren "
    "wieder.",
    "es": "El río subió durante la noche, y por la mañana las calles bajas de la ciudad estaban bajo el agua. Muchas "
    "personas dejaron sus casas porque no podían ir al trabajo. El puente está cerrado, pero los trenes circulan.",
    "fi": "Joki nousi yöllä, ja aamulla kaupungin alimmat kadut olivat veden alla. Moni lähti kotoaan, sillä he eivät "
    "voineet mennä töihin. Silta on suljettu, mutta junat kulkevat taas, ja kun vesi laskee, se avataan. Se on hyvä, "
    "että silta ei ole rikki, sillä se on vanha, ja uusi on kallis.",
    "fr": "La rivière est montée pendant la nuit, et le matin les rues basses de la ville étaient sous l'eau. Beaucoup "
    "de gens ont quitté leur maison car ils ne pouvaient pas aller au travail. Le pont est fermé, mais les trains "
    "circulent.",
    "id": "Sungai naik pada malam hari, dan jalan yang rendah di kota itu terendam pada pagi hari. Banyak orang yang "
    "pergi dari rumah karena tidak dapat bekerja. Jembatan itu ditutup, tetapi kereta sudah dapat berjalan untuk "
    "penumpang.",
    "it": "Il fiume è salito durante la notte, e al mattino le strade basse della città erano sotto l'acqua. Molte "
    "persone hanno lasciato la casa perché non potevano andare al lavoro. Il ponte è chiuso, ma i treni della linea "
    "sono partiti.",
    "nl": "De rivier steeg in de nacht, en de lage straten van de stad stonden in de ochtend onder water. Veel mensen "
    "verlieten het huis omdat ze niet naar het werk konden. De brug is dicht, maar de treinen rijden weer.",
    "pl": "Rzeka podniosła się w nocy i rano dolne ulice miasta były pod wodą. Wielu ludzi opuściło domy, ponieważ nie "
    "mogli dojść do pracy. Most jest zamknięty, ale pociągi znów jeżdżą, a droga przez las jest otwarta dla "
    "mieszkańców, bo nie ma na niej wody, jak podaje miasto.",
    "pt": "O rio subiu durante a noite, e de manhã as ruas baixas da cidade estavam debaixo de água. Muitas pessoas "
    "deixaram a casa porque não podiam ir para o trabalho. A ponte está fechada, mas os comboios da linha circulam.",
    "ro": "Râul a crescut în timpul nopții, și dimineața străzile din partea de jos a orașului erau sub apă. Mulți "
    "oameni au plecat din case pentru că nu puteau ajunge la serviciu. Podul este închis, dar trenurile circulă.",
    "ru": "Ночью река поднялась, и утром нижние улицы города были под водой. Многие люди ушли из домов, так как они не "
    "могли попасть на работу. Мост закрыт, но поезда снова ходят, и это хорошо для города.",
    "sv": "Floden steg under natten, och stadens lägre gator var under vatten på morgonen. Många människor lämnade sina "
    "hus för att de inte kunde ta sig till arbetet. Bron är stängd, men tågen går igen, och det är bra för alla.",
    "tr": "Nehir gece yükseldi ve sabah şehrin alçak sokakları su altında kaldı. Birçok kişi işe gidemediği için evini "
    "bıraktı. Köprü kapalı, ama trenler yine çalışıyor ve yolcular için bir otobüs de var. Su ise çok olarak "
    "ölçüldü, ya da öyle gibi.",
    "ar": "ارتفع النهر أثناء الليل، وكانت الشوارع المنخفضة في المدينة تحت الماء في الصباح. الجسر مغلق.",
    "he": "הנהר עלה במהלך הלילה, ובבוקר היו הרחובות הנמוכים של העיר מתחת למים. הגשר סגור.",
    "hi": "रात में नदी का पानी बढ़ गया, और सुबह शहर की निचली सड़कें पानी के नीचे थीं। पुल बंद है।",
    "ja": "夜の間に川の水位が上がり、朝には町の低い通りが水につかった。橋は閉鎖されている。",
    "th": "แม่น้ำสูงขึ้นในตอนกลางคืน และถนนในเมืองจมอยู่ใต้น้ำในตอนเช้า สะพานปิด",
    "zh": "河水在夜里上涨，早上城里低处的街道都在水下。桥已经关闭。",
}
